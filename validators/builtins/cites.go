package builtins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
)

type cites struct {
	Source     string            `json:"source,omitempty" jsonschema:"the text that is quoted from"`
	Sources    map[string]string `json:"sources,omitempty" jsonschema:"texts by name, any of which may be quoted from"`
	Field      string            `json:"field,omitempty" jsonschema:"a field of the JSON that is judged, with dots for one within another: each text in it is a claim that must stand in a source"`
	IgnoreCase bool              `json:"ignore_case,omitempty" jsonschema:"take upper and lower case as the same"`

	folded []string // the sources
	names  []string
}

// Prepare implements [validators.Prepared].
func (p *cites) Prepare() error {
	if p.Source == "" && len(p.Sources) == 0 {
		return errNoSource
	}
	if p.Source != "" {
		p.add(p.Source)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Sources)) {
		p.names = append(p.names, name)
		p.add(p.Sources[name])
	}
	return nil
}

// add adds a source as it is written, and as Markdown shows it.
func (p *cites) add(source string) {
	p.folded = append(p.folded, p.fold(source))
	if d, err := reading.Read(source); err == nil {
		p.folded = append(p.folded, p.fold(d.Text()))
	}
}

var oneQuote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "«", "'", "»", "'", `"`, "'", "‘", "'", "’", "'", "‚", "'", "...", "…", "*", "", "__", "", "`", "")

// fold writes all white space and all quotation marks in one way, and removes marks of
// emphasis and of code.
func (p *cites) fold(s string) string {
	s = strings.Join(strings.Fields(oneQuote.Replace(s)), " ")
	if p.IgnoreCase {
		s = fold(s).text
	}
	return s
}

// Cites accepts a text whose quotations, in quotation marks or block quotes, are all in a
// source, and whose claims are too: the strings in the JSON at its parameter field. It
// compares characters. White space, the form of quotation marks, emphasis and marks of code
// do not count, and "…" leaves something out. In JSON it looks for quotations in the
// strings. The field must exist. Code is not read.
var Cites = validators.New("cites", "Validates that every quotation, and every claim of a field, stands in a source",
	func(ctx context.Context, p cites, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "cites"}
		quoted, err := p.quotations(ctx, s)
		if err != nil {
			found.add("", "%v", err)
			return found.verdict(""), nil
		}
		for _, q := range quoted {
			if !p.contains(q.text) {
				found.add(q.at, "%s %s does not stand in %s", q.what, quote(q.text), p.where())
			}
		}
		return found.verdict(fmt.Sprintf("%s in %s", reports.Count(len(quoted), "quotation or claim"), p.where())), nil
	})

func (p cites) where() string {
	if len(p.names) == 0 {
		return "the source"
	}
	names := p.names
	if p.Source != "" {
		names = append([]string{"the source"}, names...)
	}
	return strings.Join(names, " or ")
}

// contains reports whether a source contains the pieces of a text in their order.
func (p cites) contains(s string) bool {
	pieces := strings.FieldsFunc(p.fold(s), func(r rune) bool { return r == '…' })
	return slices.ContainsFunc(p.folded, func(source string) bool {
		asked := false
		for _, piece := range pieces {
			if piece = strings.Trim(piece, " []"); piece == "" {
				continue
			}
			_, after, ok := strings.Cut(source, piece)
			if !ok {
				return false
			}
			asked, source = true, after
		}
		return asked
	})
}

// A quoted text has what it is and its place.
type quoted struct{ what, text, at string }

func (p cites) quotations(ctx context.Context, s validators.Subject) ([]quoted, error) {
	var out []quoted
	if _, isText := s.Output.(string); s.Output == nil || isText {
		if p.Field != "" {
			return nil, fmt.Errorf("the text is no JSON and has no field %s", p.Field)
		}
		d, err := reading.Of(ctx, s.Content)
		if err != nil {
			return nil, fmt.Errorf("the text is not read: %w", err)
		}
		return quotationsIn(d, ""), nil
	}
	if p.Field != "" {
		value, there := fieldOf(s.Output, strings.Split(p.Field, "."))
		if !there || value == nil {
			return nil, fmt.Errorf("there is no field %s", p.Field)
		}
		eachText(value, p.Field, func(at, text string) { out = append(out, quoted{"the claim", text, at}) })
	}
	var broken error
	eachText(s.Output, "", func(at, text string) {
		if p.Field != "" && (at == p.Field || strings.HasPrefix(at, p.Field+"[") || strings.HasPrefix(at, p.Field+".")) {
			return
		}
		d, err := reading.Read(text)
		if err != nil {
			broken = fmt.Errorf("%s is not read: %w", at, err)
			return
		}
		out = append(out, quotationsIn(d, at)...)
	})
	return out, broken
}

// quotationsIn lists the quotations of a document. One that a block does not end goes on
// in the next block if that ends it or begins with its mark.
func quotationsIn(d *reading.Document, at string) []quoted {
	var out []quoted
	add := func(b *reading.Block, s reading.Span) {
		text := strings.Trim(s.In(b.Text), "“”„«»‘’‚「」『』\" \n")
		if text == "" {
			return
		}
		place := at
		if place == "" {
			place = fmt.Sprintf("line %d", d.Line(b.Offset(s.Start)))
		}
		out = append(out, quoted{"the quotation", text, place})
	}
	var open reading.Span // of a quotation that its block does not end
	var opener *reading.Block
	for i := range d.Blocks {
		b := &d.Blocks[i]
		switch {
		case b.Kind == reading.CodeBlock:
			continue
		case b.Quoted:
			add(b, reading.Span{Start: 0, End: len(b.Text)})
			continue
		}
		text := templates().ReplaceAllStringFunc(masked(b, reading.CodeSpan), func(s string) string { return strings.Repeat(" ", len(s)) })
		if opener != nil {
			if end, goes := continued(text, opener.Text[open.Start:]); goes {
				add(opener, open)
				add(b, reading.Span{Start: 0, End: end})
			}
			opener = nil
		}
		rest := 0
		for _, q := range reading.Quotations(text) {
			add(b, q)
			rest = q.End
		}
		if start := strings.LastIndexAny(text, "“„«"); start >= rest {
			open, opener = reading.Span{Start: start, End: len(text)}, b
		}
	}
	return out
}

var templates = patterns.Lazy(`\{\{[^{}]*\}\}`)

// continued returns the end of the part of a block's text that belongs to a quotation which
// the block before has begun.
func continued(text, opened string) (end int, goes bool) {
	mark, _ := utf8.DecodeRuneInString(opened)
	if strings.HasPrefix(text, string(mark)) {
		return 0, true
	}
	ends := map[rune]string{'“': "”", '„': "“”", '«': "»"}[mark]
	end = strings.IndexAny(text, ends+string(mark))
	if end < 0 {
		return 0, false
	}
	last, _ := utf8.DecodeRuneInString(text[end:])
	return end, strings.ContainsRune(ends, last)
}

// fieldOf follows names into a plain value; through a list it goes to all.
func fieldOf(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		sub, ok := v[path[0]]
		if !ok {
			return nil, false
		}
		return fieldOf(sub, path[1:])
	case []any:
		var out []any
		for _, e := range v {
			sub, ok := fieldOf(e, path)
			if !ok {
				return nil, false
			}
			out = append(out, sub)
		}
		return out, true
	}
	return nil, false
}

// eachText visits every text in a plain value with its place.
func eachText(v any, at string, visit func(at, text string)) {
	switch v := v.(type) {
	case string:
		visit(at, v)
	case []any:
		for i, e := range v {
			eachText(e, fmt.Sprintf("%s[%d]", at, i), visit)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			eachText(v[key], strings.TrimPrefix(at+"."+key, "."), visit)
		}
	}
}
