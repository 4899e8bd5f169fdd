package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mending is an edit that a recipe asks for.
type mending struct {
	file   string
	after  string // the line before the inserted text
	old    string // the text to replace; a new file has neither
	text   string
	recipe string
}

var (
	// The line above a block: `file`, new: or `file`, after `line`: or `file`,
	// `words` becomes:
	lead       = regexp.MustCompile("^`([^`]+)`, (?:(new)|after (`.*`)|(`.*`) becomes):$")
	blockUnder = regexp.MustCompile("(?ms)(?:((?:^[^\n]+\n)+)\n)?^```(\\w*)\n(.*?)^```$")
)

// recipesOf returns the edits of a page and the commands after them, in order.
func recipesOf(t *testing.T, page string) (edits []mending, commands []string) {
	t.Helper()
	_, rest, _ := strings.Cut(page, "\n## Six recipes\n")
	_, rest, _ = strings.Cut(rest, "\n### ")
	rest, _, _ = strings.Cut(rest, "\n## ")
	for recipe := range strings.SplitSeq(rest, "\n### ") {
		name, _, _ := strings.Cut(recipe, "\n")
		before := len(commands)
		for _, block := range blockUnder.FindAllStringSubmatch(recipe, -1) {
			if block[2] == "sh" {
				commands = append(commands, strings.Split(strings.TrimSpace(block[3]), "\n")...)
				continue
			}
			m := lead.FindStringSubmatch(strings.TrimSpace(block[1]))
			if m == nil {
				t.Fatalf("%s: %q does not say what becomes of the text below", name, block[1])
			}
			plain := func(span string) string {
				return strings.TrimSpace(strings.Trim(strings.ReplaceAll(span, "` ``", "` "), "`"))
			}
			e := mending{file: m[1], after: plain(m[3]), old: plain(m[4]), text: block[3], recipe: name}
			if e.old != "" {
				e.text = strings.TrimSuffix(e.text, "\n")
			}
			edits = append(edits, e)
		}
		if len(commands) == before {
			t.Errorf("%s tries nothing", name)
		}
	}
	return edits, commands
}

// apply makes the edit below a folder. The test fails if the place is missing
// or ambiguous.
func (e mending) apply(t *testing.T, root string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(e.file))
	if e.after+e.old == "" {
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s: %s is there already", e.recipe, e.file)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(e.text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, behind, found := strings.Cut(string(text), e.after+e.old)
	if !found || strings.Contains(behind, e.after+e.old) {
		t.Fatalf("%s: %s must have %q once", e.recipe, e.file, e.after+e.old)
	}
	if e.after != "" {
		rest, more, _ := strings.Cut(behind, "\n")
		before, behind = before+e.after+rest+"\n", more
	}
	if err := os.WriteFile(file, []byte(before+e.text+behind), 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyOf copies tracked files of this repository with their current content:
// the named files, or all.
func copyOf(t *testing.T, names ...string) string {
	t.Helper()
	list, err := exec.Command("git", append([]string{"-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, names...)...).Output()
	if err != nil {
		t.Skip("this is no checkout: ", err)
	}
	root := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // deleted but still tracked
		}
		to := filepath.Join(root, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestRecipes applies the edits of CONTRIBUTING.md to a copy of the repository.
// With CAPSTAN_RECIPES it also runs the commands, which compile everything
// again.
func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("it copies the repository")
	}
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	edits, commands := recipesOf(t, string(page))
	if len(edits) < 20 || len(commands) < 10 {
		t.Fatalf("only %d edits and %d commands", len(edits), len(commands))
	}
	var edited []string // without commands, only the edited files are needed
	for _, e := range edits {
		if os.Getenv("CAPSTAN_RECIPES") == "" {
			edited = append(edited, e.file)
		}
	}
	root := copyOf(t, edited...)
	for _, e := range edits {
		e.apply(t, root)
	}
	if os.Getenv("CAPSTAN_RECIPES") == "" {
		return
	}
	unformatted, err := exec.Command("gofmt", "-l", root).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(unformatted)) > 0 {
		t.Errorf("not formatted: %s%v", unformatted, err)
	}
	for _, line := range commands {
		words := shellWords(line)
		if words[0] != "go" || words[1] != "test" {
			t.Fatalf("a recipe shows %q, which is not ours to run", line)
		}
		cmd := exec.Command("go", append([]string{"test", "-vet=off"}, words[2:]...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CAPSTAN_RECIPES=")
		out, err := cmd.CombinedOutput()
		t.Logf("%s\n%s", line, out)
		if err != nil || bytes.Contains(out, []byte("no tests to run")) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
