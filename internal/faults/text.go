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

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Most is the default limit on faults per operator and text.
const Most = 5

// Known is the context of a text.
type Known struct {
	Given  string // the sources of the author: inputs, and outputs of earlier phases
	Schema any    // the JSON Schema of the text as a plain value, or nil
	Most   int    // the maximum of faults of one operator; 0 means [Most]
}

// A Text is a good text in which operators plant faults.
type Text struct {
	Content string
	Known
	Value any // the JSON of the text, an object or a list; nil for prose

	document   *reading.Document // nil if the text cannot be read
	at         reading.Span      // of the JSON
	schema     *schema.Schema    // the schema that accepts Value, or nil
	paragraphs []paragraph
	numbers    map[string]bool // in the sources
}

// Read returns a Text. If a schema is set, Read also accepts JSON that is
// surrounded by prose.
func Read(content string, known Known) *Text {
	known.Most = cmp.Or(max(known.Most, 0), Most)
	t := &Text{Content: content, Known: known, numbers: map[string]bool{}}
	t.read()
	for _, at := range numberPattern().FindAllString(known.Given, -1) {
		t.numbers[at] = true
	}
	t.Value, t.at = t.json(known.Schema != nil)
	if known.Schema != nil {
		if s, err := schema.Compile(known.Schema); err == nil && takes(s, t.Value) {
			t.schema = s
		}
	}
	return t
}

// read parses the content.
func (t *Text) read() {
	t.document, _ = reading.Read(t.Content)
	t.paragraphs = paragraphsOf(t.document)
}

// maxStarts is the maximum number of places where Read looks for JSON without a
// fence.
const maxStarts = 50

// json returns the object or list of the text. With within, the JSON may be a
// part of the text.
func (t *Text) json(within bool) (any, reading.Span) {
	if t.document == nil {
		return nil, reading.Span{}
	}
	for _, j := range t.document.JSON {
		if value := composite(j.Text); value != nil && (j.Whole || within) {
			return value, j.Span
		}
	}
	end := strings.LastIndexAny(t.Content, "}]") + 1
	for at, n := 0, 0; within && n < maxStarts; n++ {
		i := strings.IndexAny(t.Content[at:], "{[")
		if i < 0 || at+i >= end {
			break
		}
		at += i
		if v := composite(t.Content[at:end]); v != nil {
			return v, reading.Span{Start: at, End: end}
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

// with returns the text with another value.
func (t *Text) with(v any) string {
	text, err := schema.Indent(v)
	if err != nil {
		return t.Content
	}
	return t.Content[:t.at.Start] + string(text) + t.Content[t.at.End:]
}

// wasGiven reports whether the sources contain a text.
func (t *Text) wasGiven(text string) bool { return text != "" && strings.Contains(t.Given, text) }

// mentions reports whether the text or its sources contain one of the words, in
// any case.
func (t *Text) mentions(words ...string) bool {
	text, given := strings.ToLower(t.Content), strings.ToLower(t.Given)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) || strings.Contains(given, w) })
}

// prose adapts an operator for prose to JSON: it plants its faults in values
// that are prose. If there are many values, it picks some.
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
			inner.Content, inner.Value = words[i], nil
			inner.read()
			for _, f := range apply(&inner, rng) {
				all = append(all, change{places[i], func() any { return put(t.Value, places[i], f.Text) }, f})
			}
		}
		return t.changed(rng, all)
	}
}

// A path leads to a nested value by names and indexes.
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

// values calls visit for every value inside v, parents first.
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

// removed is the type of Removed.
type removed struct{}

// put returns a copy of v with another value at p.
func put(v any, p path, value any) any {
	if len(p) == 0 {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		name := p[0].(string)
		if out[name] = put(v[name], p[1:], value); out[name] == (any)(removed{}) {
			delete(out, name)
		}
		return out
	case []any:
		out := slices.Clone(v)
		i := p[0].(int)
		if out[i] = put(v[i], p[1:], value); out[i] == (any)(removed{}) {
			out = slices.Delete(out, i, i+1)
		}
		return out
	}
	return v
}

// matches returns the matches of a pattern in the paragraphs.
func (t *Text) matches(pattern *regexp.Regexp) []reading.Span {
	var out []reading.Span
	for _, p := range t.paragraphs {
		for _, at := range pattern.FindAllStringIndex(p.In(t.Content), -1) {
			out = append(out, reading.Span{Start: p.Start + at[0], End: p.Start + at[1]})
		}
	}
	return out
}

// words returns the words of a part of the text.
func (t *Text) words(in reading.Span) []reading.Span {
	var out []reading.Span
	from := -1
	for i, r := range in.In(t.Content) {
		letter := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || from >= 0 && strings.ContainsRune("'’-_", r)
		switch {
		case letter && from < 0:
			from = in.Start + i
		case !letter && from >= 0:
			out, from = append(out, reading.Span{Start: from, End: in.Start + i}), -1
		}
	}
	if from >= 0 {
		out = append(out, reading.Span{Start: from, End: in.End})
	}
	return out
}

// A sentence is a whole sentence of four words or more.
type sentence struct {
	reading.Span
	words []reading.Span
	item  bool // the sentence is a whole list item, which need not be a sentence
}

// sentences returns the whole sentences of the text.
func (t *Text) sentences() []sentence {
	var out []sentence
	for _, p := range t.paragraphs {
		for _, s := range p.Sentences {
			text := strings.TrimRight(s.In(t.Content), "\"'”’»)]*_“")
			first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, "\"'“„«*_(["))
			words := t.words(s)
			if len(words) >= 4 && terminal(text) && (unicode.IsUpper(first) || unicode.IsDigit(first)) {
				out = append(out, sentence{s, words, len(p.Sentences) == 1 && p.item})
			}
		}
	}
	return out
}
