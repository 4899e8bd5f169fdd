package faults

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators/reading"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Most is how many faults an operator plants in one text where nobody says.
const Most = 5

// Known is what is known around a text.
type Known struct {
	Given  string // all texts that its author was given: inputs, outputs of earlier phases
	Schema any    // the JSON Schema that its JSON must keep to, as a plain value; nil for none
	Most   int    // faults of one operator; 0 is [Most]
}

// A Text is a good text that faults are planted in.
type Text struct {
	Content string
	Known
	Value any // its JSON: an object or a list; nil where it is prose

	at         reading.Span   // of the JSON
	schema     *schema.Schema // that takes Value; nil where there is none
	paragraphs []reading.Prose
	numbers    map[string]bool // that were given
}

// Read makes a Text. JSON that stands among prose is taken for what the text is
// where a schema asks for it.
func Read(content string, known Known) *Text {
	known.Most = cmp.Or(max(known.Most, 0), Most)
	t := &Text{Content: content, Known: known, paragraphs: reading.ProseOf(content), numbers: map[string]bool{}}
	for _, at := range numberPattern().FindAllString(known.Given, -1) {
		t.numbers[at] = true
	}
	t.Value, t.at = jsonIn(content, known.Schema != nil)
	if known.Schema != nil {
		if s, err := schema.Compile(known.Schema); err == nil && takes(s, t.Value) {
			t.schema = s
		}
	}
	return t
}

// maxStarts bounds the places where JSON is looked for among prose.
const maxStarts = 50

// jsonIn finds the object or list that a text is, or has in it.
func jsonIn(content string, within bool) (any, reading.Span) {
	whole := strings.TrimSpace(content)
	from := strings.Index(content, whole)
	if v := composite(whole); v != nil {
		return v, reading.Span{From: from, To: from + len(whole)}
	}
	end := strings.LastIndexAny(content, "}]") + 1
	for at, n := 0, 0; within && n < maxStarts; n++ {
		i := strings.IndexAny(content[at:], "{[")
		if i < 0 || at+i >= end {
			break
		}
		at += i
		if v := composite(content[at:end]); v != nil {
			return v, reading.Span{From: at, To: end}
		}
		at++
	}
	return nil, reading.Span{}
}

func composite(text string) any {
	if text == "" || strings.IndexByte("{[", text[0]) < 0 {
		return nil
	}
	v, err := schema.Parse([]byte(text))
	if err != nil {
		return nil
	}
	return v
}

// with is the text with another value.
func (t *Text) with(v any) string {
	text, err := schema.Indent(v)
	if err != nil {
		return t.Content
	}
	return t.Content[:t.at.From] + string(text) + t.Content[t.at.To:]
}

// gave tells whether a text was among those that the author was given.
func (t *Text) gave(text string) bool { return text != "" && strings.Contains(t.Given, text) }

// said tells whether the text, or what its author was given, says one of the
// words already, whatever their case.
func (t *Text) said(words ...string) bool {
	text, given := strings.ToLower(t.Content), strings.ToLower(t.Given)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) || strings.Contains(given, w) })
}

// prose has an operator of prose plant its faults within the values of a text
// that is JSON: those that are words. Of many values some are taken.
func prose(apply func(*Text, *rand.Rand) []Fault) func(*Text, *rand.Rand) []Fault {
	return func(t *Text, rng *rand.Rand) []Fault {
		if t.Value == nil {
			return apply(t, rng)
		}
		var places []path
		var words []string
		values(t.Value, nil, func(p path, v any) {
			if text, ok := v.(string); ok && strings.Count(strings.TrimSpace(text), " ") >= 2 {
				places, words = append(places, p), append(words, text)
			}
		})
		var all []change
		tried := rng.Perm(len(places))
		for _, i := range tried[:min(len(tried), 4*t.Most)] {
			inner := *t
			inner.Content, inner.Value, inner.paragraphs = words[i], nil, reading.ProseOf(words[i])
			for _, f := range apply(&inner, rng) {
				all = append(all, change{places[i], func() any { return put(t.Value, places[i], f.Text) }, f})
			}
		}
		return t.changed(rng, all)
	}
}

// A path leads to a value within another: names and numbers.
type path []any

func (p path) String() string {
	var b strings.Builder
	b.WriteString("$")
	for _, step := range p {
		if name, ok := step.(string); ok {
			b.WriteString("." + name)
		} else {
			fmt.Fprintf(&b, "[%d]", step)
		}
	}
	return b.String()
}

// values visits every value within v, v itself not, each before those in it.
func values(v any, at path, visit func(p path, v any)) {
	next := func(step, v any) {
		p := append(slices.Clip(at), step)
		visit(p, v)
		values(v, p, visit)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			next(name, v[name])
		}
	case []any:
		for i := range v {
			next(i, v[i])
		}
	}
}

// gone stands for a value that is taken out.
type gone struct{}

// put is v with another value at p; v itself stays as it is.
func put(v any, p path, value any) any {
	if len(p) == 0 {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		name := p[0].(string)
		if out[name] = put(v[name], p[1:], value); out[name] == (any)(gone{}) {
			delete(out, name)
		}
		return out
	case []any:
		out := slices.Clone(v)
		i := p[0].(int)
		out[i] = put(v[i], p[1:], value)
		return out
	}
	return v
}

// matches are the places of a pattern in the paragraphs.
func (t *Text) matches(pattern *regexp.Regexp) []reading.Span {
	var out []reading.Span
	for _, p := range t.paragraphs {
		for _, at := range pattern.FindAllStringIndex(p.In(t.Content), -1) {
			out = append(out, reading.Span{From: p.From + at[0], To: p.From + at[1]})
		}
	}
	return out
}

// words are the places of the words of a part of the text.
func (t *Text) words(in reading.Span) []reading.Span {
	var out []reading.Span
	from := -1
	for i, r := range in.In(t.Content) {
		letter := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || from >= 0 && strings.ContainsRune("'’-_", r)
		switch {
		case letter && from < 0:
			from = in.From + i
		case !letter && from >= 0:
			out, from = append(out, reading.Span{From: from, To: in.From + i}), -1
		}
	}
	if from >= 0 {
		out = append(out, reading.Span{From: from, To: in.To})
	}
	return out
}

// A sentence is one of the text: whole, of four words or more.
type sentence struct {
	reading.Span
	words []reading.Span
	item  bool // it is all of an item of a list, which may as well be no sentence
}

// listed tells whether a paragraph is an item of a list.
func (t *Text) listed(p reading.Prose) bool {
	before := t.Content[strings.LastIndexByte(t.Content[:p.From], '\n')+1 : p.From]
	return strings.ContainsAny(before, "-*+.)")
}

// sentences are the whole sentences of the text.
func (t *Text) sentences() []sentence {
	var out []sentence
	for _, p := range t.paragraphs {
		for _, s := range p.Sentences {
			text := strings.TrimRight(s.In(t.Content), "\"'”’»)]*_“")
			first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, "\"'“„«*_(["))
			end, _ := utf8.DecodeLastRuneInString(text)
			words := t.words(s)
			if len(words) >= 4 && reading.Terminal(end) && (unicode.IsUpper(first) || unicode.IsDigit(first)) {
				out = append(out, sentence{s, words, len(p.Sentences) == 1 && t.listed(p)})
			}
		}
	}
	return out
}
