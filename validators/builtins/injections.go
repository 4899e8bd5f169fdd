package builtins

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/internal/tables"
)

// An injection is a phrase: one word of each set, in this order, with at most
// gap other words between two of them.
type injection struct {
	words [][]string
	gap   int
	order bool // it counts only at the start of a sentence or a clause
}

// injectionTable is the table of injections, prepared for the search.
type injectionTable struct {
	phrases   []injection
	starts    map[string][]int // the phrases that begin with a word
	roleMarks []string
}

var injectionRows = sync.OnceValue(func() *injectionTable {
	t := &injectionTable{starts: map[string][]int{}}
	for _, r := range tables.Rows(injectionsTable) {
		if r["kind"] == "role_mark" {
			t.roleMarks = append(t.roleMarks, r["words"])
			continue
		}
		gap, sets, _ := strings.Cut(r["words"], ": ")
		p := injection{order: r["kind"] == "order"}
		p.gap, _ = strconv.Atoi(gap)
		for set := range strings.SplitSeq(sets, " / ") {
			var words []string
			for word := range strings.FieldsSeq(set) {
				words = append(words, plainWord(word))
			}
			p.words = append(p.words, words)
		}
		for _, word := range p.words[0] {
			t.starts[word] = append(t.starts[word], len(t.phrases))
		}
		t.phrases = append(t.phrases, p)
	}
	return t
})

// injections reports the first occurrence of each phrase. A phrase never
// crosses the end of a sentence.
func injections(found *findings, text string) {
	table := injectionRows()
	tries := make([]try, len(table.phrases))
	done := make([]bool, len(table.phrases))
	end := 0
	for at, word := range words(text) {
		between := text[end:at]
		if between != " " && strings.ContainsAny(between, ".!?;。！？；") {
			clear(tries)
		}
		begins := end == 0 || strings.Trim(between, " \t\r\n*_`") != "" || strings.Contains(between, "\n\n")
		end = at + len(word)
		word = plainWord(word)
		for i, p := range table.phrases {
			if tries[i].matched == 0 || done[i] {
				continue
			}
			if tries[i].next(p, word); tries[i].matched == len(p.words) {
				done[i] = true
				found.addAt(text, tries[i].start, "the text tries to override instructions: %s", quote(text[tries[i].start:end]))
			}
		}
		for _, i := range table.starts[word] {
			if begins || !table.phrases[i].order {
				tries[i] = try{start: at, matched: 1}
			}
		}
	}
}

var lookalikes = sync.OnceValue(func() map[rune]rune {
	latin := map[rune]rune{}
	for _, r := range tables.Rows(lookalikesTable) {
		latin[[]rune(r["letter"])[0]] = []rune(r["latin"])[0]
	}
	return latin
})

// plainWord returns a word in lower case without characters that have no width.
// Latin letters replace letters that look like them. A word of more than 80
// bytes becomes "-".
func plainWord(word string) string {
	if len(word) > 80 {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		switch latin, ok := lookalikes()[r]; {
		case r < utf8.RuneSelf:
			return r
		case ok:
			return latin
		case r == '’':
			return '\''
		case isZeroWidth(r):
			return -1
		}
		return r
	}, strings.ToLower(norm.NFKC.String(word)))
}

// A try is a partial match of a phrase.
type try struct{ start, matched, skipped int }

// next continues a try with the next word, or ends it.
func (t *try) next(p injection, word string) {
	if slices.Contains(p.words[t.matched], word) {
		t.matched, t.skipped = t.matched+1, 0
		return
	}
	if t.skipped++; t.skipped > p.gap {
		t.matched = 0
	}
}

// roleMarks reports the marks that separate roles in chat templates.
func roleMarks(found *findings, text string) {
	for _, mark := range injectionRows().roleMarks {
		if i := strings.Index(text, mark); i >= 0 {
			found.addAt(text, i, "the text has the role mark %s", mark)
		}
	}
}
