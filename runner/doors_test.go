package runner_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The comment of a large package explains the package in two minutes of reading
// and names the place to begin.
func TestDoors(t *testing.T) {
	const (
		large        = 1500 // lines, without tests
		least, words = 80, 360
	)
	lines, story := map[string]int{}, map[string]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || name != ".." && otherModule(name)) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		at := filepath.Dir(name)
		lines[at] += bytes.Count(source, []byte("\n"))
		story[at] += f.Doc.Text()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range lines {
		if n < large {
			continue
		}
		if length := len(strings.Fields(story[at])); length < least || length > words {
			t.Errorf("%s has %d lines, and its comment %d words, not %d to %d", at, n, length, least, words)
		}
		if !strings.Contains(story[at], "Begin ") && !strings.Contains(story[at], "Begin\n") {
			t.Errorf("%s does not say where to begin reading", at)
		}
	}
}
