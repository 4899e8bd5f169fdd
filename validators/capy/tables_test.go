package capy

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/tables"
)

// Each row of a table matches its one line and does not match its other.
func TestTables(t *testing.T) {
	v := shipped()
	for table, matches := range map[string]func(tables.Row, string) bool{
		labelTable: func(row tables.Row, line string) bool { return rowIn(v.labels, line, row["words"]) },
		wordTable:  func(row tables.Row, line string) bool { return rowIn(v.words, line, row["words"]) },
		patternTable: func(row tables.Row, line string) bool {
			return row["kind"] == "filler" && v.filler(line) || row["kind"] != "filler" && v.matches(row["kind"], line)
		},
	} {
		if err := tables.Check(table, matches); err != nil {
			t.Errorf("%.20q: %v", table, err)
		}
	}
}

// rowIn reports whether a line contains one of the phrases of a row.
func rowIn(l lexicon, line, alternatives string) bool {
	words := tokens(fold(line))
	for i := range words {
		for _, p := range l[words[i].word] {
			if p.begins(words[i:]) && strings.Contains("|"+alternatives+"|", "|"+strings.Join(p.words, " ")+"|") {
				return true
			}
		}
	}
	return false
}
