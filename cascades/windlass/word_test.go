package windlass

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPageLists holds that docs/reference/windlass.md says of every word what becomes of it.
func TestPageLists(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/windlass.md")
	if err != nil {
		t.Fatal(err)
	}
	has := func(word string) bool {
		return strings.Contains(string(page), "`"+word+"`") || strings.Contains(string(page), word+"`") || strings.Contains(string(page), "`"+word) || strings.Contains(string(page), "."+word+":")
	}
	for kind := range keys() {
		for key, w := range keys()[kind] {
			if !has(key) {
				t.Errorf("the page does not have %s of %s", key, kind)
			}
			if w.Fate > Ignored && w.Told() == "" || w.Fate == Renamed && w.Here == "" {
				t.Errorf("%s of %s says nothing of what to do", key, kind)
			}
		}
	}
	for name := range judges {
		if !has(name) {
			t.Errorf("the page does not have %s", name)
		}
	}
}

// TestTried holds that every word stands in one of the small cascades of which a test
// says what becomes of them.
func TestTried(t *testing.T) {
	names, err := filepath.Glob("../../cmd/capstan/testdata/windlass/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		cascades, _, _ := strings.Cut(string(text), "\n-- told --\n")
		all.WriteString(cascades)
	}
	words := slices.Concat(slices.Collect(maps.Keys(hosts)), slices.Collect(maps.Keys(nearly)), slices.Collect(maps.Keys(judges)), slices.Collect(maps.Keys(variables)))
	for kind := range keys() {
		words = append(words, Keys(kind)...)
	}
	for _, word := range words {
		if !strings.Contains(all.String(), word) {
			t.Errorf("no cascade has %s", word)
		}
	}
}

// TestSynonyms holds that the list of renamed keys is that of the table.
func TestSynonyms(t *testing.T) {
	for kind := range keys() {
		n := 0
		for key, w := range keys()[kind] {
			if w.Fate == Renamed && kind != "a validator in place" {
				n++
				if !strings.Contains(" "+strings.Join(Synonyms(kind), " ")+" ", " "+key+" ") {
					t.Errorf("%s of %s is renamed, and no synonym", key, kind)
				}
			}
		}
		if kind != "a validator in place" && n != len(Synonyms(kind)) {
			t.Errorf("%s has %d synonyms, and %d keys that are renamed", kind, len(Synonyms(kind)), n)
		}
	}
}

func TestTool(t *testing.T) {
	for name, want := range map[string]string{
		"python:house.stock.count": "count", "sql:queries/late orders.sql": "late_orders", "say": "say", "a.b/": "b", "::": "", "é": "_",
	} {
		if got := Stem(name); got != want {
			t.Errorf("the stem of %s is %q, not %q", name, got, want)
		}
	}
	for name, theirs := range map[string]bool{"rabbitize_start": true, "say": true, "linux_shell": true, "my_tool": false} {
		if w, is := Tool(name); is != theirs || w.Instead == "" {
			t.Errorf("%s: %v %t", name, w, is)
		}
	}
}
