package capy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/patterns"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
)

// minCharacters is how many characters an output exceeds.
const minCharacters = 500

// structureCheck is check 1: the length, a heading, and no truncation.
func (r *run) structureCheck(f *findings) {
	d := r.text
	start := place{d, len(d.Source) - len(strings.TrimLeft(d.Source, " \t\r\n\ufeff"))}
	switch n := utf8.RuneCountInString(strings.TrimSpace(d.Source)); {
	case n == 0:
		f.fail(start, "The output is empty")
		return
	case n <= minCharacters:
		f.fail(start, "The output has %d characters: want more than %d", n, minCharacters)
	}
	if j := d.single(); j != nil {
		f.note = "one JSON document, without a heading"
		if j.Err != nil && !balanced(j.Text) {
			f.fail(place{d, j.At}, "The output breaks off inside its JSON")
		}
		return
	}
	if !slices.ContainsFunc(d.parts, func(p part) bool { return p.kind == aTitle }) {
		f.fail(start, "The output has no Markdown heading")
	}
	for i := range d.Blocks {
		if b := &d.Blocks[i]; b.Fenced && (!b.Closed || opened(b, d.Source)) {
			f.fail(place{d, b.Start}, "The fence that opens here is never closed")
			return
		}
	}
	r.checkEnd(f)
}

// single returns the JSON of a text that is JSON as a whole, or contains it in a single
// fence.
func (d *document) single() *reading.JSON {
	if len(d.JSON) > 0 && (d.JSON[0].Whole || len(d.Blocks) == 1) {
		return &d.JSON[0]
	}
	return nil
}

var opener = patterns.Lazy("(?m)^ {0,3}(```+|~~~+)[ \t]*[\\w{.]")

// opened reports whether another fence opens inside a block of code, so that the fence
// around it is the other's.
func opened(b *reading.Block, source string) bool {
	if !strings.Contains(b.Text, "```") && !strings.Contains(b.Text, "~~~") {
		return false
	}
	lines := strings.TrimLeft(b.In(source), " \t")
	mark := lines[:len(lines)-len(strings.TrimLeft(lines, lines[:1]))]
	for _, m := range opener().FindAllStringSubmatch(b.Text, -1) {
		if m[1][0] == mark[0] && len(m[1]) >= len(mark) && !strings.EqualFold(b.Language, "markdown") {
			return true
		}
	}
	return false
}

var emptyItem = patterns.Lazy(`^[ \t]*([-*+]|\d{1,9}[.)])[ \t]*$`)

// checkEnd reports a document that stops in the middle: an empty last list
// item, an HTML table that is not closed, or an unfinished row or sentence.
func (r *run) checkEnd(f *findings) {
	d := r.text
	source := strings.TrimRight(d.Source, " \t\r\n")
	at := place{d, max(len(source)-1, 0)}
	if emptyItem().MatchString(source[strings.LastIndexByte(source, '\n')+1:]) {
		f.fail(at, "The last item has nothing in it")
		return
	}
	i := len(d.Blocks) - 1
	for ; i >= 0 && d.Blocks[i].Kind == reading.HTMLBlock && strings.HasPrefix(strings.TrimSpace(d.Blocks[i].In(d.Source)), "<!--"); i-- {
	}
	if i < 0 {
		return
	}
	switch b := &d.Blocks[i]; b.Kind {
	case reading.HeadingBlock, reading.CodeBlock, reading.RuleBlock:
	case reading.RowBlock:
		r.lastRow(f, at, i)
	case reading.HTMLBlock:
		if lower := strings.ToLower(b.In(d.Source)); strings.Count(lower, "<table") > strings.Count(lower, "</table") {
			f.fail(at, "The HTML table has no end")
			return
		}
		r.lastProse(f, at, b)
	default:
		r.lastProse(f, at, b)
	}
}

func (r *run) lastRow(f *findings, at place, last int) {
	d := r.text
	header := last
	for header > 0 && d.Blocks[header].Level > 0 && d.Blocks[header-1].Kind == reading.RowBlock {
		header--
	}
	ends := func(i int) bool { return strings.HasSuffix(strings.TrimSpace(d.Blocks[i].In(d.Source)), "|") }
	switch {
	case header == last:
		f.fail(at, "The last table has no rows")
	case ends(header) && !ends(last):
		f.fail(at, "The last row has no end")
	}
}

// lastProse checks how a paragraph, an item or a quotation ends.
func (r *run) lastProse(f *findings, at place, b *reading.Block) {
	text := strings.TrimSpace(b.Text)
	if b.Kind == reading.HTMLBlock {
		text = strings.TrimSpace(tag().ReplaceAllString(b.In(r.text.Source), ""))
	}
	last := text[strings.LastIndexByte(text, '\n')+1:]
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "*_"))
	if what := open(text, end); what != "" {
		f.fail(at, "The output ends inside %s: %q", what, reports.Fit(last, 80))
		return
	}
	switch {
	case strings.HasPrefix(text, "|") && !strings.HasSuffix(text, "|"):
		f.fail(at, "The last row has no end: %q", reports.Fit(last, 80))
		return
	case strings.HasSuffix(text, "..."):
		f.fail(at, "The output breaks off: it ends in %s, which is no end", punctuation['…'])
		return
	case punctuation[end] != "":
		f.fail(at, "The output breaks off: it ends in %s, which is no end", punctuation[end])
		return
	case !unicode.IsLetter(end) || r.ends(text, last, b):
		return
	}
	words := tokens(fold(last))
	switch word := words[len(words)-1]; {
	case r.begun(word.word):
		f.fail(at, "The output breaks off inside a word: %q has no end", reports.Fit(last, 80))
	case b.Kind == reading.ItemBlock && !r.words.has(words[len(words)-1:], "connective"), labelledLine().MatchString(last):
	default:
		f.warn(at, "Question: does the output end here? The last line has no end: %q", reports.Fit(last, 80))
	}
}

var punctuation = map[rune]string{',': "a comma", ';': "a semicolon", ':': "a colon", '…': "an ellipsis"}

var labelledLine = patterns.Lazy(`^\W*(?:[^\s.:!?]+ ){0,4}[^\s.:!?]+\W*:\s+\S`)

// ends reports whether a last line without punctuation is an end: all of it set off, or
// an end mark, a signature or an address.
func (r *run) ends(text, last string, b *reading.Block) bool {
	for _, i := range b.Inlines {
		if i.Text.End >= len(strings.TrimRight(b.Text, " \n")) && i.Kind != reading.RawHTML {
			return true
		}
	}
	if r.matches("mark", last) {
		return true
	}
	for line := range strings.SplitSeq(text, "\n") {
		if r.matches("ending", line) {
			return true
		}
	}
	return false
}

// begun reports whether a word occurs exactly once and is also the beginning of a
// longer word, so that it may be truncated.
func (r *run) begun(word string) bool {
	whole, longer := 0, false
	for i := range r.text.Blocks {
		for _, t := range tokens(fold(r.text.Blocks[i].Text)) {
			if t.word == word {
				whole++
			}
			longer = longer || len(t.word) > len(word) && strings.HasPrefix(t.word, word)
		}
	}
	return whole == 1 && longer && len(word) > 1
}

var (
	openEmphasis = patterns.Lazy(`\*\*|(^|[\s(])[*_]\pL[^*_]*$`)
	jsonLine     = patterns.Lazy(`(?m)^\s*(?:\{\s*(?:["'{}]|$)|\[\s*(?:["'{]|$))`)
)

// open returns the construct in which a truncated text ends, or "".
func open(text string, end rune) string {
	if m := jsonLine().FindStringIndex(text); m != nil {
		if !balanced(text[m[0]:]) {
			return "JSON"
		}
		text = text[:m[0]]
	}
	if strings.Count(text, "$$")%2 == 1 {
		return "a formula"
	}
	if strings.ContainsRune(".!?。！？", end) {
		return ""
	}
	switch opens, closes := strings.Count(text, "(")+strings.Count(text, "["), strings.Count(text, ")")+strings.Count(text, "]"); {
	case strings.Count(text, "`")%2 == 1:
		return "code"
	case openEmphasis().MatchString(text):
		return "emphasis"
	case opens > closes:
		return "a parenthesis or an open bracket"
	}
	return ""
}

// balanced reports whether the first object or list of a text is closed.
// Brackets in strings do not count.
func balanced(text string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return true
			}
		}
	}
	return false
}
