package builtins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/reading"
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

// add takes a source as it is written, and as it reads where it is Markdown.
func (p *cites) add(source string) {
	p.folded = append(p.folded, p.fold(source))
	if t, err := reading.Read(source); err == nil {
		p.folded = append(p.folded, p.fold(t.Said()))
	}
}

var oneQuote = strings.NewReplacer("“", "'", "”", "'", "„", "'", "«", "'", "»", "'", `"`, "'", "‘", "'", "’", "'", "‚", "'", "...", "…", "*", "", "__", "", "`", "")

// fold writes white space and quotation marks in one way, the outer and those within
// them, and leaves out marks of emphasis and of code.
func (p *cites) fold(s string) string {
	s = strings.Join(strings.Fields(oneQuote.Replace(s)), " ")
	if p.IgnoreCase {
		s = fold(s).text
	}
	return s
}

// Cites accepts text whose quotations, in quotation marks or block quotes, all
// stand in a source, and so do all claims of a field; white space and the shape
// of quotation marks do not count, and "…" leaves something out. Of a text that
// is JSON the quotations within its values are looked at. The reason names the
// first that does not stand there. A text without quotations and claims is
// accepted; where the field is not there at all it is not.
var Cites = validators.New("cites", "Validates that every quotation, and every claim of a field, stands in a source",
	func(_ context.Context, p cites, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "cites"}
		quoted, err := p.quotations(s)
		if err != nil {
			found.add("", "%v", err)
			return found.verdict(""), nil
		}
		for _, q := range quoted {
			if !p.stands(q.text) {
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

// stands tells whether a text stands in one of the sources, its pieces in their
// order.
func (p cites) stands(s string) bool {
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

// A quoted text says where it is from.
type quoted struct{ what, text, at string }

func (p cites) quotations(s validators.Subject) ([]quoted, error) {
	var out []quoted
	if _, isText := s.Output.(string); s.Output == nil || isText {
		if p.Field != "" {
			return nil, fmt.Errorf("the text is no JSON and has no field %s", p.Field)
		}
		return quotationsIn(s.Content, "")
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
		if list, err := quotationsIn(text, at); err != nil {
			broken = err
		} else if at != p.Field && !strings.HasPrefix(at, p.Field+"[") && !strings.HasPrefix(at, p.Field+".") || p.Field == "" {
			out = append(out, list...)
		}
	})
	return out, broken
}

func quotationsIn(text, at string) ([]quoted, error) {
	if text == "" {
		return nil, nil
	}
	t, err := reading.Read(text)
	if err != nil {
		return nil, fmt.Errorf("the text is not read: %w", err)
	}
	var out []quoted
	for _, thing := range t.Quoted() {
		if thing.Text == "" {
			continue // marks alone
		}
		place := at
		if place == "" {
			place = fmt.Sprintf("line %d", thing.Line)
		}
		out = append(out, quoted{"the quotation", thing.Text, place})
	}
	return out, nil
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
