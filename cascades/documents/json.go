package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// looksJSON tells whether a text can only be meant as JSON.
func looksJSON(source []byte) bool {
	text := bytes.TrimLeft(source, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(source)
}

// jsonSyntax gives what is wrong with a file that calls itself JSON, or nil.
func jsonSyntax(name string, source []byte) (wrong *json.SyntaxError) {
	if path.Ext(name) == ".json" {
		_ = errors.As(json.Unmarshal(source, new(any)), &wrong)
	}
	return wrong
}

// jsonHint says what usually is behind what is wrong with a JSON text.
func jsonHint(wrong *json.SyntaxError) string {
	if text := wrong.Error(); strings.Contains(text, "beginning of object key") || strings.Contains(text, "']' looking for beginning of value") {
		return ": no comma stands before } or ], and a key stands in double quotes"
	}
	return ""
}

// jsonNodes reads valid JSON into the nodes that the YAML library would make
// if it knew all of JSON: tabs, \/, surrogate pairs, keys of any length.
func jsonNodes(source []byte) (*yaml.Node, error) {
	r := &jsonReader{source: source, place: place{1, 1}}
	r.decoder = json.NewDecoder(bytes.NewReader(source))
	r.decoder.UseNumber()
	return r.value()
}

type jsonReader struct {
	source  []byte
	decoder *json.Decoder
	offset  int
	place   place // of offset
}

// A place is a line and a column from 1, the column in characters.
type place struct{ line, column int }

// next gives the next token and a node at its place.
func (r *jsonReader) next() (json.Token, *yaml.Node, error) {
	r.skip(bytes.TrimLeft(r.source[r.offset:], " \t\r\n,:"))
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.place.line, Column: r.place.column}
	token, err := r.decoder.Token()
	r.skip(r.source[r.decoder.InputOffset():])
	return token, n, err
}

// skip moves to where rest begins.
func (r *jsonReader) skip(rest []byte) {
	end := len(r.source) - len(rest)
	for _, c := range string(r.source[r.offset:end]) {
		r.place.column++
		if c == '\n' {
			r.place = place{r.place.line + 1, 1}
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

// content reads what stands between two brackets, and the closing one.
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
