package reading

import (
	"errors"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// A JSON is a part of a text that is JSON, or is labelled as JSON. It is parsed once.
type JSON struct {
	Span         // in the source
	Block int    // the index of its block
	Whole bool   // it is all of the text
	Text  string // without the marks of containers
	Value any    // plain, see [jsonvalue.Parse]; nil after an error
	Err   error  // a [*jsonvalue.SyntaxError], a [*jsonvalue.DuplicateKey], or that the JSON is too large
	At    int    // the offset of the error in the source
}

// whole reads a text that is one JSON object or array. If the text begins like an object
// and is not JSON, the document has the error, and its text is read as Markdown.
func (d *Document) whole() bool {
	text := strings.TrimRight(strings.TrimPrefix(d.Source, "\uFEFF"), " \t\r\n")
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	start := strings.Index(d.Source, text[:1])
	found := parse(text, func(at int) int { return start + at })
	found.Span, found.Whole = Span{start, start + len(text)}, true
	if found.Err != nil && text[0] == '[' {
		return false
	}
	d.JSON = []JSON{found}
	if found.Err != nil {
		return false
	}
	d.Blocks = []Block{{Span: found.Span, Kind: CodeBlock, Language: "json", Closed: true, Text: text, offsets: []alignment{{0, start}}}}
	return true
}

// fences reads the fenced blocks that are labelled as JSON, and those without a label
// that are JSON.
func (d *Document) fences() {
	for i := range d.Blocks {
		b := &d.Blocks[i]
		text := strings.TrimSpace(b.Text)
		if !b.Fenced || text == "" && b.Language == "" {
			continue
		}
		labelled := strings.EqualFold(b.Language, "json")
		if !labelled && (b.Language != "" || text[0] != '{' && text[0] != '[') {
			continue
		}
		lead := strings.Index(b.Text, text)
		found := parse(text, func(at int) int { return b.Offset(lead + at) })
		if found.Err != nil && !labelled {
			continue
		}
		found.Span = Span{b.Offset(lead), b.Offset(lead + len(text))}
		if text == "" {
			found.Span = b.Span
		}
		found.Block = i
		d.JSON = append(d.JSON, found)
	}
}

func parse(text string, offset func(int) int) JSON {
	value, err := jsonvalue.Parse([]byte(text))
	found := JSON{Text: text, Value: value, Err: err}
	var syntax *jsonvalue.SyntaxError
	var twice *jsonvalue.DuplicateKey
	switch {
	case errors.As(err, &syntax):
		found.At = offset(syntax.Offset)
	case errors.As(err, &twice):
		found.At = offset(twice.Offset)
	case err != nil:
		found.At = offset(0)
	}
	return found
}
