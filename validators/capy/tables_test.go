package capy

import (
	"strings"
	"testing"
)

// Each row of a table matches its one line and does not match its other.
func TestTables(t *testing.T) {
	v, err := tables()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"labels", "words", "patterns"} {
		list, err := rows(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			kind, match, other := r[0], r[len(r)-2], r[len(r)-1]
			if r[len(r)-3] == "" {
				t.Errorf("%s: %s has no source", name, kind)
			}
			found := func(line string) bool {
				switch words := tokens(fold(line)); name {
				case "labels":
					return rowIn(v.labels, words, r[2])
				case "words":
					return rowIn(v.words, words, r[1])
				}
				if kind == "filler" {
					return v.filler(line)
				}
				return v.matches(kind, line)
			}
			if !found(match) || found(other) {
				t.Errorf("%s: %s %s: %q %t, %q %t", name, kind, r[1], match, found(match), other, found(other))
			}
		}
	}
}

// rowIn reports whether the tokens contain one of the phrases of a row.
func rowIn(l lexicon, words []token, alternatives string) bool {
	for i := range words {
		for _, p := range l[words[i].word] {
			if p.begins(words[i:]) && strings.Contains("|"+alternatives+"|", "|"+strings.Join(p.words, " ")+"|") {
				return true
			}
		}
	}
	return false
}
