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

// A package that is large opens with a story that can be read aloud in two minutes,
// and says where to begin.
func TestDoors(t *testing.T) {
	const (
		large        = 1500 // lines, tests aside
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
		if told := len(strings.Fields(story[at])); told < least || told > words {
			t.Errorf("%s has %d lines, and its comment %d words, not %d to %d", at, n, told, least, words)
		}
		if !strings.Contains(story[at], "Begin ") && !strings.Contains(story[at], "Begin\n") {
			t.Errorf("%s does not say where to begin reading", at)
		}
	}
}
