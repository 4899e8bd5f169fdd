package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// looksJSON reports whether a text is a JSON object or list.
func looksJSON(source []byte) bool {
	text := bytes.TrimLeft(source, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(source)
}

// jsonSyntax returns the syntax error of a file whose name ends with .json, or nil.
func jsonSyntax(name string, source []byte) (wrong *json.SyntaxError) {
	if path.Ext(name) == ".json" {
		_ = errors.As(json.Unmarshal(source, new(any)), &wrong)
	}
	return wrong
}

// jsonHint returns the usual cause of a JSON error, or "".
func jsonHint(wrong *json.SyntaxError) string {
	if text := wrong.Error(); strings.Contains(text, "beginning of object key") || strings.Contains(text, "']' looking for beginning of value") {
		return ": no comma stands before } or ], and a key stands in double quotes"
	}
	return ""
}

// jsonNodes reads valid JSON as nodes of the YAML library. The library itself does not accept
// tabs, \/, surrogate pairs and long keys of JSON.
func jsonNodes(source []byte) (*yaml.Node, error) {
	r := &jsonReader{source: source, place: Point{1, 1}}
	r.decoder = json.NewDecoder(bytes.NewReader(source))
	r.decoder.UseNumber()
	return r.value()
}

type jsonReader struct {
	source  []byte
	decoder *json.Decoder
	offset  int
	place   Point // of offset
}

// next returns the next token, and a node at the position of the token.
func (r *jsonReader) next() (json.Token, *yaml.Node, error) {
	r.skip(bytes.TrimLeft(r.source[r.offset:], " \t\r\n,:"))
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.place.Line, Column: r.place.Column}
	token, err := r.decoder.Token()
	r.skip(r.source[r.decoder.InputOffset():])
	return token, n, err
}

// skip moves to the beginning of rest.
func (r *jsonReader) skip(rest []byte) {
	end := len(r.source) - len(rest)
	for _, c := range string(r.source[r.offset:end]) {
		r.place.Column++
		if c == '\n' {
			r.place = Point{r.place.Line + 1, 1}
		}
	}
	r.offset = end
}

func (r *jsonReader) value() (*yaml.Node, error) {
	token, n, err := r.next()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		n.Kind, n.Tag, n.Style = yaml.SequenceNode, "!!seq", yaml.FlowStyle
		if token == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		return n, r.content(n)
	case string:
		n.Tag, n.Style, n.Value = "!!str", yaml.DoubleQuotedStyle, token
	case json.Number:
		n.Tag, n.Value = "!!int", token.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(token)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// content reads the values between two brackets and the closing bracket.
func (r *jsonReader) content(n *yaml.Node) error {
	for r.decoder.More() {
		e, err := r.value()
		if err != nil {
			return err
		}
		n.Content = append(n.Content, e)
	}
	_, _, err := r.next()
	return err
}
