package cascadestest

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Folder opens the files of a folder.
func Folder(dir string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return os.ReadFile(path.Join(dir, name)) }
}

// Files opens files that are written out in the test, by name.
func Files(texts map[string]string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := texts[name]
		if !ok {
			return nil, os.ErrNotExist
		}
		return []byte(text), nil
	}
}

// Glob returns the files that match the patterns. The test fails if no file
// matches.
func Glob(t testing.TB, patterns ...string) []string {
	t.Helper()
	var names []string
	for _, p := range patterns {
		matches, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, matches...)
	}
	if len(names) == 0 {
		t.Fatalf("no file matches %s", strings.Join(patterns, ", "))
	}
	return names
}

// Generated compares a part of a page with a text, or writes it there first, with update.
// The part is between the lines "<!-- NAME -->" and "<!-- end of NAME -->".
func Generated(t *testing.T, update bool, page, name, text string) {
	t.Helper()
	file, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	start, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(string(file), start)
	part, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Errorf("%s has no part %q", page, name)
	case part == text:
	case update:
		if err := os.WriteFile(page, []byte(before+start+text+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: the part %q differs; run the test with -update\ngot\n%s\nwant\n%s", page, name, part, text)
	}
}

// Golden compares a text with a file, or writes it there first, with update.
func Golden(t *testing.T, update bool, file, text string) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(found), "\n"), strings.Split(text, "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s:%d: got %q", file, i+1, got[min(i, len(got)-1)])
		}
	}
}
