package capy

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
)

// validityCheck is check 3: each JSON block parses. A repeated key is a warning.
func (r *run) validityCheck(f *findings) {
	for _, d := range r.docs {
		for i := range d.JSON {
			j := &d.JSON[i]
			reportParseError(f, place{d, j.At}, j.Text, j.Err)
		}
		for i := range d.Blocks {
			if b := &d.Blocks[i]; b.Kind == reading.CodeBlock && b.Fenced && b.Language == "" && likeJSON(b.Text) {
				if _, err := jsonvalue.Parse([]byte(strings.TrimSpace(b.Text))); err != nil {
					reportParseError(f, place{d, b.Offset(errorOffset(b.Text, err))}, b.Text, err)
				}
			}
		}
		if d != r.text && d.Whole() == nil && len(d.JSON) == 0 {
			f.fail(place{d, 0}, "The sidecar is not JSON")
		}
	}
}

func errorOffset(text string, err error) int {
	lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	var syntax *jsonvalue.SyntaxError
	if errors.As(err, &syntax) {
		return min(lead+syntax.Offset, len(text)-1)
	}
	return lead
}

// reportParseError adds findings for an error of the JSON in text, which begins
// at a place of the document. A duplicate key is a warning.
func reportParseError(f *findings, at place, text string, err error) {
	var twice *jsonvalue.DuplicateKey
	var syntax *jsonvalue.SyntaxError
	switch {
	case err == nil:
	case errors.As(err, &twice):
		f.warn(at, "Key %q is there twice in one object", reports.Fit(twice.Key, 60))
		if err := syntaxError(text); err != nil {
			f.fail(at, "The JSON does not parse: %v", err)
		}
	case errors.As(err, &syntax):
		line, column := at.doc.Position(at.offset)
		f.fail(at, "The JSON has an error at line %d, column %d: %s", line, column, syntax.Message)
	default:
		f.fail(at, "The JSON does not parse: %v", err)
	}
}

// likeJSON reports whether a block of code without a language begins like JSON and has no
// arrows.
func likeJSON(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' || strings.Contains(text, "→") || strings.Contains(text, "->") {
		return false
	}
	inner := strings.TrimLeft(text, "{[ \t\r\n")
	return inner == "" || strings.ContainsRune(`"'}]`, rune(inner[0]))
}

// syntaxError returns the error of a JSON text, in which keys may repeat.
func syntaxError(text string) error {
	return jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true)).SkipValue()
}
