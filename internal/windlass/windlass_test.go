package windlass_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/windlass"
)

// rows returns the rows of the table: places, words, effect, here, advice, source, match.
func rows(t *testing.T) (list [][]string) {
	text, err := os.ReadFile("tables/words.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			list = append(list, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return list
}

// TestTableRows checks that each row is complete, that its example line has one of its words,
// and that each word is on the page of the reference and in a cascade of the tests.
func TestTableRows(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/windlass.md")
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob("../../cmd/capstan/testdata/windlass/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	var cascades strings.Builder
	for _, name := range archives {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source, _, _ := strings.Cut(string(text), "\n-- result --\n")
		cascades.WriteString(source)
	}
	for _, row := range rows(t) {
		if len(row) != 7 || row[5] == "" {
			t.Errorf("%q: want 7 columns and a source", row)
			continue
		}
		place, words, effect, here, advice := row[0], row[1], windlass.Effect(row[2]), row[3], row[4]
		complete := effect == windlass.Ignored
		switch {
		case effect == windlass.Renamed:
			complete = here != ""
		case effect == windlass.Replaced, effect == windlass.Unsupported:
			complete = advice != ""
		}
		if !complete {
			t.Errorf("%s: %s: incomplete row", place, words)
		}
		checkExample(t, place, effect, row[6])
		for word := range strings.FieldsSeq(words) {
			word = strings.TrimSuffix(word, "*")
			bounded := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(word))
			if !strings.HasPrefix(place, "tool") && !strings.HasPrefix(place, "value") && !bounded.Match(page) {
				t.Errorf("docs/reference/windlass.md lacks %s of %s", word, place)
			}
			if !bounded.MatchString(cascades.String()) {
				t.Errorf("no cascade of cmd/capstan/testdata/windlass has %s of %s", word, place)
			}
		}
	}
}

// checkExample checks that a line of a file has a word with an effect in each place, and that
// the same line with another word has none.
func checkExample(t *testing.T, places string, effect windlass.Effect, line string) {
	t.Helper()
	for place := range strings.SplitSeq(places, ", ") {
		find := func(prefix string) (found bool) {
			for _, name := range append(regexp.MustCompile(`\w+`).FindAllString(line, -1), "{}") {
				w, ok := windlass.Find(place, prefix+name)
				found = found || ok && w.Effect == effect
			}
			return found
		}
		if !find("") {
			t.Errorf("%s: %q has no word that is %s", place, line, effect)
		}
		if find("not_") {
			t.Errorf("%s: %q with another word is %s", place, line, effect)
		}
	}
}

func TestKeyLookup(t *testing.T) {
	for _, c := range []struct {
		kind, key string
		effect    windlass.Effect
		here      string
	}{
		{"the cascade", "cells", windlass.Renamed, "phases"},
		{"the cascade", "_canvas", windlass.Ignored, ""},
		{"a phase", "retry", windlass.Unsupported, ""},
		{"a phase", "routing", windlass.Replaced, ""},
		{"a phase", "instructions", "", ""},
		{"no such kind", "_canvas", "", ""},
	} {
		w, known := windlass.Key(c.kind, c.key)
		if w.Effect != c.effect || w.Here != c.here || known != (c.effect != "") {
			t.Errorf("%s of %s: %+v, %t", c.key, c.kind, w, known)
		}
	}
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{
		"python:house.stock.count": "count", "sql:queries/late orders.sql": "late_orders", "say": "say", "a.b/": "b", "::": "", "é": "_",
	} {
		if got := windlass.Stem(name); got != want {
			t.Errorf("the stem of %s is %q, not %q", name, got, want)
		}
	}
}

func TestToolLookup(t *testing.T) {
	for name, want := range map[string]struct {
		here  string
		known bool
	}{"rabbitize_start": {"", true}, "say": {"", true}, "linux_shell": {"run_command", true}, "my_tool": {"", false}, "rabbitiz": {"", false}} {
		if w, known := windlass.Find("tool", name); known != want.known || w.Here != want.here || known != (w.Advice != "") {
			t.Errorf("%s: %+v %t", name, w, known)
		}
	}
	for name, want := range map[string]string{"say": "speaks and listens", "linux_shell": "run_command", "x/my_tool.py": "[./my_tool]"} {
		if advice, _ := windlass.Declaration(name); !strings.Contains(advice, want) {
			t.Errorf("%s: %s", name, advice)
		}
	}
}
