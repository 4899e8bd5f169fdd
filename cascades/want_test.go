package cascades

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A want is a diagnostic that a line of a test cascade expects:
//
//	max_turns: 0   # want 14 "at least 1.*\[invalid-value\]"
//
// The number is its column and may be left out; the pattern is matched against
// message, suggestion and code.
type want struct {
	file    string
	line    int
	column  int
	pattern *regexp.Regexp
	met     bool
}

var (
	wantComment = regexp.MustCompile(`# want(( \d+)? "[^"]*")+`)
	wantEntry   = regexp.MustCompile(`(\d+ )?"([^"]*)"`)
)

func wants(t *testing.T, file string, source []byte) []*want {
	t.Helper()
	var list []*want
	for i, line := range strings.Split(string(source), "\n") {
		comment := wantComment.FindString(line)
		for _, m := range wantEntry.FindAllStringSubmatch(comment, -1) {
			pattern, err := regexp.Compile(m[2])
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			column, _ := strconv.Atoi(strings.TrimSpace(m[1]))
			list = append(list, &want{file: file, line: i + 1, column: column, pattern: pattern})
		}
	}
	return list
}

func (w *want) meets(d syntax.Diagnostic) bool {
	text := strings.TrimPrefix(d.String(), d.Position.String()+": ")
	return !w.met && w.file == d.File && w.line == d.Line && (w.column == 0 || w.column == d.Column) && w.pattern.MatchString(text)
}

// TestBad compares every mistake in testdata/bad with the wants of its line.
func TestBad(t *testing.T) {
	reported := map[string]bool{}
	for _, name := range glob(t, "testdata/bad/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			for _, d := range checkWants(t, "testdata/bad", filepath.Base(name)) {
				reported[d.Code] = true
			}
			// A reader that knows no names reports an error too.
			if _, err := Load(filepath.Base(name), folder("testdata/bad"), Known{}); err == nil {
				t.Error("it is right where nothing is known")
			}
		})
	}
	for _, name := range glob(t, "testdata/warned/*.yaml") {
		for _, d := range checkWants(t, "testdata/warned", filepath.Base(name)) {
			reported[d.Code] = true
		}
	}
	elsewhere := []string{codes.TooLarge, codes.Program, codes.Price, codes.UngatedWrite, codes.Unmeasured} // TestHostileFiles, TestAbsent, budgets.txtar, TestProof and strength.txtar have them
	for _, code := range codes.All() {
		if !reported[code.Name] && !slices.Contains(elsewhere, code.Name) {
			t.Errorf("no file in testdata/bad has a mistake of code %s", code.Name)
		}
	}
}

func checkWants(t *testing.T, dir, name string) syntax.Diagnostics {
	var list []*want
	open := func(file string) ([]byte, error) {
		source, err := folder(dir)(file)
		if err == nil && !slices.ContainsFunc(list, func(w *want) bool { return w.file == file }) {
			list = append(list, wants(t, file, source)...)
		}
		return source, err
	}
	c, err := Load(name, open, known())
	var diagnostics syntax.Diagnostics
	if c != nil {
		diagnostics = c.Warnings
	} else if !errors.As(err, &diagnostics) {
		t.Fatalf("fails without diagnostics: %v", err)
	}
	if broken := diagnostics.Broken(); broken != (dir == "testdata/bad") {
		t.Errorf("%s is broken: %v", name, broken)
	}
	if strict := diagnostics.Strict(); !strict.Broken() || len(strict) != len(diagnostics) || diagnostics.Broken() != (dir == "testdata/bad") {
		t.Errorf("%s: where a warning is wrong, too, %v", name, strict)
	}
	for _, d := range diagnostics {
		if !meet(list, d) {
			t.Errorf("unexpected: %s", d)
		}
	}
	for _, w := range list {
		if !w.met {
			t.Errorf("%s:%d: nothing at column %d matches %s", w.file, w.line, w.column, w.pattern)
		}
	}
	return diagnostics
}

func meet(list []*want, d syntax.Diagnostic) bool {
	for _, w := range list {
		if w.meets(d) {
			w.met = true
			return true
		}
	}
	return false
}

// TestGood checks that valid files have no diagnostics.
func TestGood(t *testing.T) {
	for _, name := range glob(t, "testdata/good/*.yaml", "testdata/good/*.json") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if _, err := Load(filepath.Base(name), folder("testdata/good"), known()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCodesAreDocumented compares docs/reference/diagnostics.md with the codes.
func TestCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/diagnostics.md")
	if err != nil {
		t.Fatal(err)
	}
	table := ""
	for _, code := range codes.All() {
		table += fmt.Sprintf("| `%s` | %s |\n", code.Name, code.Meaning)
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/reference/diagnostics.md must hold this table:\n%s", table)
	}
}
