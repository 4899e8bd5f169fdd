package capy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// text finds the labels in a text and the values that follow them directly.
func (r *reader) text(text string, offset func(int) int) {
	folded := fold(text)
	if len(folded) != len(text) {
		offset = byLine(text, folded, offset)
	}
	words := tokens(folded)
	for i := 0; i < len(words); i++ {
		p := r.labels.at(words, i)
		if p == nil {
			continue
		}
		end := i + len(p.words)
		if at := &r.doc.parts[r.part]; p.kind != "other" {
			at.named = at.named || p.name
			r.line(p, folded, words, i, end, offset)
		}
		i = end - 1
	}
}

// line adds the fact of the label words[i:end] if a value follows.
func (r *reader) line(p *phrase, text string, words []token, i, end int, offset func(int) int) {
	link, next := r.link(text, words, i, end, p.kind)
	if link == 0 {
		return
	}
	left := clause(text, words, i)
	f := r.fact(p.kind, inLine, place{r.doc, offset(words[i].start)})
	f.whole = r.neutral(words[left:i], p.kind) && !(link == 'o' && !opens(text, words, left))
	f.states = r.words.find(append(words[max(left-maxBefore, 0):end:end], within(words, end, next)...), "state:")
	if n := scenarioOf(words[left:end]); n > 0 {
		f.scenario = n
	}
	value := rest(text[next:], link)
	if p.each && !r.words.has(tokens(value), "each") || !f.whole && (!p.name || link == ':' || r.words.has(words[left:i], "difference")) {
		return
	}
	f.content, f.figure = strings.TrimSpace(value), r.number(value)
	r.facts = append(r.facts, f)
}

// maxBefore is how many words before a clause may name the state of its value.
const maxBefore = 4

// byLine returns the offsets of lines for a text that folding made longer or shorter.
func byLine(text, folded string, offset func(int) int) func(int) int {
	from, start := 0, 0 // the offsets rise
	return func(at int) int {
		for range strings.Count(folded[from:max(at, from)], "\n") {
			start += strings.IndexByte(text[start:], '\n') + 1
		}
		from = max(at, from)
		return offset(start)
	}
}

// within returns the tokens from an index that end before an offset or at it.
func within(words []token, from, end int) []token {
	to := from
	for to < len(words) && words[to].end <= end {
		to++
	}
	return words[from:to]
}

// clause returns the index of the first token in the clause of token i.
func clause(text string, words []token, i int) int {
	for ; i > 0; i-- {
		if gap := text[words[i-1].end:words[i].start]; strings.ContainsAny(gap, ".,;:(|\n=!?→") || strings.Contains(gap, " – ") {
			break
		}
	}
	return i
}

// opens reports whether a sentence, an item or a line begins with token i.
func opens(text string, words []token, i int) bool {
	return i == 0 || strings.ContainsAny(text[words[i-1].end:words[i].start], ".;:\n!?,")
}

// link returns the sign between the label words[from:to] and its value, and the offset
// after it. The sign is 'o' for a word and 0 for none.
func (r *reader) link(text string, words []token, from, to int, kind string) (sign rune, next int) {
	text = text[:min(len(text), words[to-1].end+maxSaid)]
	at := words[to-1].end
	at += afterBracket(text[words[from].start:at], text[at:])
	for range maxLabel {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t)]}\"'`*_"))
		c, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case c == '(':
			end := strings.IndexAny(text[at:], ")\n")
			if end < 0 || text[at+end] != ')' {
				return 0, 0
			}
			at += end + 1
			continue
		case strings.HasPrefix(text[at:], "=="), strings.HasPrefix(text[at:], "->"):
			return '=', at + 2
		case size > 0 && strings.ContainsRune(":=≈→：~", c):
			return c, at + size
		case r.cells && (unicode.IsDigit(c) || unicode.Is(unicode.Sc, c)):
			return '=', at
		}
		for to < len(words) && words[to].start < at {
			to++
		}
		if to >= len(words) || strings.TrimLeft(text[at:words[to].start], "-–/") != "" {
			return 0, 0
		}
		if len(r.words.find(words[to:to+1], "link")) > 0 {
			return 'o', words[to].end
		}
		if !r.neutral(words[to:to+1], kind) {
			return 0, 0
		}
		at, to = words[to].end, to+1
	}
	return 0, 0
}

// afterBracket returns the distance to the end of the bracket that a label opens.
func afterBracket(label, rest string) int {
	open := strings.LastIndexAny(label, "([{")
	if open < 0 || strings.ContainsAny(label[open:], ")]}") {
		return 0
	}
	if end := strings.IndexAny(rest[:min(len(rest), 60)], ")]}\n"); end >= 0 && rest[end] != '\n' {
		return end + 1
	}
	return 0
}

// rest returns the text after a link, up to the end of the line or of the sentence.
func rest(text string, link rune) string {
	trimmed := strings.TrimLeft(text[:min(len(text), maxSaid)], " \t*_`\"")
	if link == 'o' {
		trimmed = strings.TrimLeft(trimmed, "\n ")
	}
	line, _, _ := strings.Cut(trimmed, "\n")
	return line
}

// maxSaid is how much of a line a value is looked for in, in bytes.
const maxSaid = 400
