package modelmarkup

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/tables"
)

// The table has a row for each spelling. Its columns are
//
//	kind    thinking or call
//	where   anywhere; start: the opening tag counts at the start of the text alone;
//	        pair: the closing tag alone does not count; fence and json: calls without tags
//	open    the opening tag, if any; the keys of a json row
//	next    a pattern that what follows the opening tag of a call must match
//	close   the closing tag; without one the call ends with the text
//	source  a specification, a vendor's documentation, or two independent reports
//	match   a text with this markup
//	no      a text without it
//
//go:embed tables/markup.tsv
var table string

type place string

const (
	anywhere place = "anywhere"
	start    place = "start"
	fence    place = "fence"
	keys     place = "json"
)

type row struct {
	kind        Kind
	where       place
	open, close string
	next        func() *regexp.Regexp
}

// A tag is an opening or closing tag of a row.
type tag struct {
	text   string
	row    *row
	closes bool
}

// A spelling is the table in the form that the search needs.
type spelling struct {
	tags  [256][]tag // by their first byte, the longest first
	calls [][]string // the keys of calls that are JSON objects
}

var spellings = sync.OnceValue(func() *spelling {
	s := new(spelling)
	for _, r := range tables.Rows(table) {
		s.add(r)
	}
	for _, tags := range s.tags {
		slices.SortStableFunc(tags, func(a, b tag) int { return len(b.text) - len(a.text) })
	}
	return s
})

func (s *spelling) add(cells tables.Row) {
	r := &row{kind: Thinking, where: place(cells["where"]), open: cells["open"], close: cells["close"]}
	if cells["kind"] == "call" {
		r.kind = ToolCall
	}
	if next := cells["next"]; next != "" {
		r.next = patterns.Lazy(`^(?:` + next + `)`)
	}
	switch {
	case r.where == fence:
		return
	case r.where == keys:
		s.calls = append(s.calls, strings.Fields(r.open))
		return
	case r.open != "":
		s.tags[r.open[0]] = append(s.tags[r.open[0]], tag{r.open, r, false})
	}
	if r.close != "" {
		s.tags[r.close[0]] = append(s.tags[r.close[0]], tag{r.close, r, true})
	}
}

// maxNext is the number of bytes after an opening tag that its pattern can match.
const maxNext = 200

// marksIn lists the tags of a text in order.
func marksIn(text string) []mark {
	var found []mark
	tags := &spellings().tags
	for i := 0; i < len(text); i++ {
		for _, t := range tags[text[i]] {
			if !strings.HasPrefix(text[i:], t.text) {
				continue
			}
			end := i + len(t.text)
			if !t.closes && t.row.next != nil && !t.row.next().MatchString(text[end:min(len(text), end+maxNext)]) {
				continue
			}
			found = append(found, mark{start: i, end: end, row: t.row, closes: t.closes})
			i = end - 1
			break
		}
	}
	return found
}
