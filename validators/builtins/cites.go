package builtins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

type cites struct {
	Source     string            `json:"source,omitempty" jsonschema:"text of the source"`
	Sources    map[string]string `json:"sources,omitempty" jsonschema:"texts of several sources, by name"`
	Field      string            `json:"field,omitempty" jsonschema:"field of the judged JSON, with dots for nested fields. A source must contain each text in this field"`
	IgnoreCase bool              `json:"ignore_case,omitempty" jsonschema:"treat upper and lower case as equal"`

	folded []string // the sources, normalized
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

// add adds a source as it is written and as Markdown renders it.
func (p *cites) add(source string) {
	p.folded = append(p.folded, p.fold(source))
	if d, err := reading.Read(source); err == nil {
		p.folded = append(p.folded, p.fold(d.Text()))
	}
}

var oneQuote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "«", "'", "»", "'", `"`, "'", "‘", "'", "’", "'", "‚", "'", "...", "…", "*", "", "__", "", "`", "")

// fold unifies white space and quotation marks, and removes marks of emphasis
// and code.
func (p *cites) fold(s string) string {
	s = strings.Join(strings.Fields(oneQuote.Replace(s)), " ")
	if p.IgnoreCase {
		s = fold(s).text
	}
	return s
}

// citesValidator accepts a text whose quotations, in quotation marks or block quotes, all appear
// in a source. In JSON, the strings below the field that the parameter field names are claims.
// They must also appear in a source. The field must exist.
//
// citesValidator compares characters. White space, the form of quotation marks, emphasis and code
// marks do not count, and "…" stands for omitted text. In JSON it checks the quotations within
// strings. It does not read code.
var citesValidator = validators.New("cites", "Validates that every quotation, and every claim of a field, appears in a source",
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

// contains reports whether a source contains the pieces of a text in their
// order.
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

// A quoted text is a quotation or a claim, with its kind and place.
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

// quotationsIn returns the quotations of a document. A quotation that its block
// does not close continues in the next block, if that block closes it or begins
// with its mark.
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
	var open reading.Span // a quotation that its block does not close
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

// continued returns the end of the text that continues a quotation from the
// previous block, which opened begins with its quotation mark. A paragraph that
// repeats the opening mark continues the quotation as a new one, so its end is
// 0. goes is false if the text does not continue it.
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

// fieldOf returns the value at a path of names. For a list it returns the
// values of all items.
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

// eachText calls visit for every text in a plain value, with its path.
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
