// Package modelmarkup finds markup in the texts of models: their thinking, and tool calls that
// they write as text. tables/markup.tsv lists the spellings.
package modelmarkup

import (
	"slices"
	"strings"
	"unicode"
)

// Kind is the kind of a span.
type Kind int

// The kinds of spans.
const (
	Thinking Kind = iota + 1 // with its tags
	ToolCall                 // a written call, with its tags
)

// A Span is a part of a text, by its bytes.
type Span struct {
	Kind       Kind
	Start, End int
}

// Find lists the markup of a text in order, without overlaps. It reads the text in linear time.
//
// Tags inside fenced blocks, inline code and the strings of a JSON value do not count. A tag that
// a sentence mentions does not count either:
//
//	<think>Hm.</think>Hello.          thinking: <think>Hm.</think>
//	Hm.</think>Hello.                 thinking: Hm.</think>, since chat templates may put <think> into the prompt
//	<think>Hm.                        thinking: all of it
//	Models write <think> before that. nothing
//	{"tag": "</think>"}               nothing
func Find(text string) []Span {
	marks := marksIn(text)
	called := mayCall(text)
	if len(marks) == 0 && !called && !strings.Contains(text, fencedCall) {
		return nil
	}
	code := codeIn(text, marks)
	values := valuesIn(text)
	f := finder{text: text, code: code}
	f.marks = slices.DeleteFunc(marks, func(m mark) bool { return within(values, m.start) })
	if called {
		for _, v := range values {
			if isCall(text[v.start:v.end]) && !within(code, v.start) {
				f.marks = append(f.marks, mark{start: v.start, end: v.end, whole: true})
			}
		}
	}
	for _, c := range code {
		if isFencedCall(text[c.start:c.end]) {
			f.marks = append(f.marks, mark{start: c.start, end: c.end, whole: true})
		}
	}
	slices.SortStableFunc(f.marks, func(a, b mark) int { return a.start - b.start })
	return f.find()
}

// Cut returns a text without its thinking, and the removed spans. Written calls remain. After a
// cut at the start or the end of the text, Cut also removes the white space there.
func Cut(text string) (rest string, cuts []Span) {
	var b strings.Builder
	at := 0
	for _, s := range Find(text) {
		if s.Kind == Thinking {
			b.WriteString(text[at:s.Start])
			cuts, at = append(cuts, s), s.End
		}
	}
	if len(cuts) == 0 {
		return text, nil
	}
	b.WriteString(text[at:])
	rest = b.String()
	if strings.TrimSpace(text[:cuts[0].Start]) == "" {
		rest = strings.TrimLeft(rest, blanks)
	}
	if strings.TrimSpace(text[at:]) == "" {
		rest = strings.TrimRight(rest, blanks)
	}
	return rest, cuts
}

const blanks = " \t\r\n"

// A Call is a tool call that is written as text.
type Call struct {
	Text string
	Bare bool // a JSON value without tags, which may be an answer too
}

// Calls lists the written calls of a text.
func Calls(text string) []Call {
	var calls []Call
	for _, s := range Find(text) {
		if s.Kind == ToolCall {
			call := text[s.Start:s.End]
			calls = append(calls, Call{call, strings.HasPrefix(strings.TrimLeft(call, "["+blanks), "{")})
		}
	}
	return calls
}

// Names returns the tools that the call names.
func (c Call) Names(tools []string) []string {
	words := strings.FieldsFunc(c.Text, func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return !slices.Contains(words, name) })
}

// A mark is a place where a row of the table matches.
type mark struct {
	start, end int
	row        *row
	closes     bool // the row's closing tag, not its opening one
	whole      bool // a call that needs no tags
	code       bool // inside code
}

// A finder combines the marks of a text to spans.
type finder struct {
	text  string
	marks []mark
	code  []region

	found []Span
	lead  int // the first byte that is neither thinking at the start nor white space
	last  map[*row]lastClosing
}

// lastClosing holds the indexes of the last closing marks.
type lastClosing struct{ plain, any int }

func (f *finder) find() []Span {
	f.index()
	f.lead = firstOf(f.text, 0)
	pos := 0
	for i := 0; i < len(f.marks); i++ {
		m := &f.marks[i]
		switch {
		case m.start < pos:
		case m.whole || !m.closes && m.row.kind == ToolCall && !m.code:
			pos = f.callEnd(i)
			f.found = append(f.found, Span{ToolCall, m.start, pos})
		case m.row.kind == Thinking && !m.closes && f.opens(i):
			i = f.closing(i)
			pos = len(f.text)
			if i < len(f.marks) {
				pos = f.marks[i].end
			}
			f.found = append(f.found, Span{Thinking, m.start, pos})
			if m.start == f.lead {
				f.lead = firstOf(f.text, pos)
			}
		case m.row.kind == Thinking && m.closes && m.row.where == anywhere && !m.code && !f.mentioned(m):
			pos = m.end
			f.found = append(f.found[:0], Span{Thinking, 0, pos}) // all text before it, with answers that the model withdrew
			f.lead = firstOf(f.text, pos)
		}
	}
	return f.found
}

// index finds, for each row, the last closing mark that can end its thinking.
func (f *finder) index() {
	f.last = map[*row]lastClosing{}
	for i := range f.marks {
		m := &f.marks[i]
		m.code = within(f.code, m.start)
		if !m.closes || m.row.kind != Thinking {
			continue
		}
		of := m.row
		if of.where == anywhere {
			of = nil // it ends the thinking of every row
		}
		last := f.last[of]
		last.any = i
		if !m.code {
			last.plain = i
		}
		f.last[of] = last
	}
}

// opens reports whether the opening tag of thinking at i counts. At the start of the text it
// always counts. Later it counts if a closing tag follows, or if its line contains nothing else.
func (f *finder) opens(i int) bool {
	m := &f.marks[i]
	switch {
	case m.code:
		return false
	case m.start == f.lead:
		return true
	case m.row.where == start:
		return false
	case f.alone(m):
		return true
	}
	return !f.mentioned(m) && max(f.last[nil].plain, f.last[m.row].plain) > i
}

// closing returns the index of the mark that ends the thinking from i on. It prefers the first
// one outside code. Without such a mark, it returns len(f.marks).
func (f *finder) closing(i int) int {
	by := f.marks[i].row
	plain := max(f.last[nil].plain, f.last[by].plain) > i
	for k := i + 1; k < len(f.marks); k++ {
		m := &f.marks[k]
		if m.closes && m.row.kind == Thinking && (m.row == by || m.row.where == anywhere) && !(plain && m.code) {
			return k
		}
	}
	return len(f.marks)
}

// callEnd returns the end of the call that begins with the mark at i.
func (f *finder) callEnd(i int) int {
	m := &f.marks[i]
	if m.whole {
		return m.end
	}
	for k := i + 1; k < len(f.marks) && m.row.close != ""; k++ {
		if next := &f.marks[k]; next.closes && next.row.close == m.row.close {
			return next.end
		}
	}
	return len(f.text)
}

// alone reports whether the line of a tag contains nothing else.
func (f *finder) alone(m *mark) bool {
	before := strings.TrimRight(f.text[max(0, m.start-8):m.start], " \t")
	after := strings.TrimLeft(f.text[m.end:min(len(f.text), m.end+8)], " \t\r")
	return strings.HasSuffix(before, "\n") && (strings.HasPrefix(after, "\n") || m.end == len(f.text))
}

// mentioned reports whether a sentence uses a tag like a word.
func (f *finder) mentioned(m *mark) bool {
	return m.start > 0 && m.end < len(f.text) &&
		strings.IndexByte(` "'(`, f.text[m.start-1]) >= 0 && strings.IndexByte(` .,;:!?)"'`, f.text[m.end]) >= 0
}

// firstOf returns the position of the first byte that is not white space, searching from at.
func firstOf(text string, at int) int {
	return len(text) - len(strings.TrimLeft(text[at:], blanks))
}
