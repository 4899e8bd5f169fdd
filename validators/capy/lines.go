package capy

import (
	"github.com/seed61713e19/capstan/validators/patterns"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
)

// text finds the labels in a block and the values that follow them directly.
func (r *reader) text(text string, span reading.Span, offset func(int) int) {
	folded := fold(text)
	if len(folded) != len(text) {
		offset = byLine(text, folded, offset)
	}
	words := tokens(folded)
	for i := 0; i < len(words); i++ {
		p := r.labels.at(words, i)
		if p == nil || p.kind == "other" {
			if p != nil {
				i += len(p.words) - 1
			}
			continue
		}
		f := fact{
			value: p.kind, form: inLine, place: place{r.doc, offset(words[i].start)}, body: span,
			aside: r.aside, hidden: r.hidden, scenario: r.scenario,
		}
		end := i + len(p.words)
		if link, next := r.link(folded, words, i, end, p.kind); link != 0 {
			left := r.clause(folded, words, i)
			before := words[max(left-maxBefore, 0):end]
			f.whole = r.neutral(words[left:i], p.kind) && !(link == 'o' && !r.opens(folded, words, left))
			f.states = r.words.find(append(before, within(words, end, next)...), "state:")
			if n := scenarioOf(words[left:end]); n > 0 {
				f.scenario = n
			}
			f.said = rest(folded[next:], link)
			if p.each && !r.words.has(tokens(f.said), "each") {
				i = end - 1
				continue
			}
			if f.whole || p.name && link != ':' && !r.words.has(words[left:i], "difference") {
				f.figure = r.number(f.said)
				f.said = strings.TrimSpace(f.said)
				r.facts = append(r.facts, f)
			}
		}
		i = end - 1
	}
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

// within returns the tokens from an index that end before an offset.
func within(words []token, from, end int) []token {
	to := from
	for to < len(words) && words[to].end <= end {
		to++
	}
	return words[from:to]
}

// clause returns the index of the first token in the clause of token i.
func (r *reader) clause(text string, words []token, i int) int {
	for ; i > 0; i-- {
		if gap := text[words[i-1].end:words[i].start]; strings.ContainsAny(gap, ".,;:(|\n=!?→") || strings.Contains(gap, " – ") {
			break
		}
	}
	return i
}

// opens reports whether a sentence, an item or a line begins with token i.
func (r *reader) opens(text string, words []token, i int) bool {
	return i == 0 || strings.ContainsAny(text[words[i-1].end:words[i].start], ".;:\n!?,")
}

// link returns the sign that links the label words[from:to] to its value, 'o' for a word,
// 0 for none, and the offset after it.
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
		case c == ':' || c == '=' || c == '≈' || c == '→' || c == '：' || c == '~':
			if at+size < len(text) && c == '=' && text[at+size] == '=' {
				size++
			}
			return c, at + size
		case c == '-' && strings.HasPrefix(text[at:], "->"):
			return '→', at + 2
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

// afterBracket returns how far the bracket that a label opens is from being closed.
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

// rest returns what stands behind a link: the rest of the line, or of the sentence.
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

// A figure is a number that is a value: not a bound, a formula or a part of a sentence.
type figure struct {
	reading.Number
	signed   bool // with an explicit sign
	decimals int  // that are shown
}

var (
	operator     = patterns.Lazy(`^\s*[\p{L}%]*[\s\p{L}]{0,12}\)?\s*[/×*·+^÷−–-]\s*[\d($€£]`)
	sentenceMark = patterns.Lazy(`[,;.]\s`)
	lastLink     = patterns.Lazy(`(?:=|→|->|=>)\s*`)
)

// maxOperator is where behind a number an operator may be, in bytes; maxLinks is how many
// signs an equation may have.
const (
	maxOperator = 40
	maxLinks    = 12
)

// number returns the number that a folded text is or begins with. In an equation or behind
// arrows the last number is the value.
func (r *vocabulary) number(text string) *figure {
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") {
		if n := r.begins(strings.TrimSuffix(inner, ")")); n != nil && !strings.ContainsAny(inner, "+*/×=") {
			n.Value, n.signed = -n.Value, true
			return n
		}
	}
	n := r.begins(text)
	direct := n != nil && !operator().MatchString(text[n.End:min(len(text), n.End+maxOperator)])
	if direct && !strings.ContainsAny(text, "→>") || n == nil && !strings.ContainsAny(text, "=→>") {
		return n
	}
	links := lastLink().FindAllStringIndex(text, maxLinks)
	if direct {
		for _, l := range links {
			arrow := text[l[0]:l[1]]
			if strings.TrimSpace(arrow) == "=" || strings.ContainsAny(text[n.End:l[0]], ".;,(") && !strings.HasPrefix(text[n.End:], " (") {
				break
			}
			if after := r.begins(text[l[1]:]); after != nil {
				return after
			}
		}
		return n
	}
	for i := len(links) - 1; i >= 0; i-- {
		if formula := text[:links[i][0]]; !strings.ContainsAny(formula, "/×*+(−-÷") || sentenceMark().MatchString(formula) {
			continue
		}
		if after := r.begins(text[links[i][1]:]); after != nil && !operator().MatchString(text[links[i][1]+after.End:]) {
			return after
		}
	}
	return nil
}

// begins returns the number that a text begins with, after a currency or a word for
// "about".
func (r *vocabulary) begins(text string) *figure {
	numbers := reading.Numbers(text[:min(len(text), 80)])
	if len(numbers) == 0 {
		return nil
	}
	n := numbers[0]
	before := text[:strings.IndexFunc(text, unicode.IsDigit)]
	signed := strings.ContainsAny(before, "-−+")
	for _, t := range tokens(before) {
		code := before[t.start:t.end]
		currency := strings.ToUpper(code) == code && (len(code) == 3 || strings.HasPrefix(text[t.end:], "$"))
		if !currency && len(r.words.find([]token{t}, "approx")) == 0 {
			return nil
		}
		before = strings.Replace(before, code, strings.Repeat(" ", len(code)), 1)
	}
	if strings.Trim(before, " \t~≈≃*_\"'`$€£¥₹.\\[{-−+") != "" {
		return nil
	}
	f := &figure{Number: n, signed: signed}
	shown := n.In(text)
	if at := strings.LastIndexAny(shown, ".,"); at >= 0 && (len(shown)-at != len(",000") || strings.Contains(n.Readings[0], ".")) {
		f.decimals = len(shown) - at - 1
	}
	return f
}
