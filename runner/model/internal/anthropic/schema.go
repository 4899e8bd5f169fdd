package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
)

// The keywords and formats of schemas in output_config, from transformSchema of
// anthropic-sdk-go. The request omits the annotations. Other keywords go into the
// description, which the model reads.
var (
	schemaKeywords = []string{"$ref", "type", "title", "enum", "const", "required", "pattern", "additionalProperties"}
	schemaFormats  = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
	annotations    = []string{"$schema", "$id", "$comment"}
)

// narrow returns a schema in the subset of JSON Schema that structured outputs accept.
// The properties keep their order, because answers follow it. The endpoint may still
// refuse the result.
func narrow(ctx context.Context, schema json.RawMessage) (json.RawMessage, error) {
	v, err := jsontree.Parse(ctx, schema, jsontree.Options{})
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return narrowed(v), nil
}

func narrowed(v jsontree.Value) []byte {
	if v.Kind() != '{' {
		return v.Raw()
	}
	n := schemaWriter{text: []byte("{")}
	for name, value := range v.Members() {
		n.has = append(n.has, string(name))
		if string(name) == "$ref" { // $ref must be the only keyword
			return slices.Concat([]byte(`{"$ref":`), value.Raw(), []byte("}"))
		}
	}
	for name, value := range v.Members() {
		n.keyword(string(name), value)
	}
	return n.end(v)
}

// A schemaWriter writes one schema.
type schemaWriter struct {
	text        []byte
	has         []string // keywords of the original
	description string
	moved       []string
}

func (n *schemaWriter) member(name string, value []byte) {
	if len(n.text) > 1 {
		n.text = append(n.text, ',')
	}
	n.text = append(append(jsonvalue.AppendText(n.text, name), ':'), value...)
}

func (n *schemaWriter) keyword(name string, v jsontree.Value) {
	one := string(v.Raw()) == "0" || string(v.Raw()) == "1"
	format, _ := v.Text()
	switch {
	case name == "description":
		n.description = format
	case name == "properties", name == "$defs", name == "definitions":
		n.member(name, eachMember(v))
	case name == "items", name == "additionalProperties" && !slices.Contains(n.has, "properties"):
		n.member(name, narrowed(v))
	case name == "additionalProperties": // closed, see end
	case name == "anyOf", name == "allOf":
		n.member(name, eachElement(v))
	case name == "oneOf" && !slices.Contains(n.has, "anyOf"):
		n.member("anyOf", eachElement(v))
	case slices.Contains(schemaKeywords, name), name == "minItems" && one, name == "format" && slices.Contains(schemaFormats, format):
		n.member(name, v.Raw())
	case !slices.Contains(annotations, name):
		n.moved = append(n.moved, name+": "+string(v.Raw()))
	}
}

// end completes a schema. It closes objects and adds the moved keywords to the
// description.
func (n *schemaWriter) end(v jsontree.Value) []byte {
	object := textOf(v, "type") == "object" && !slices.Contains(n.has, "additionalProperties")
	if object || slices.Contains(n.has, "properties") {
		n.member("additionalProperties", []byte("false"))
	}
	if len(n.moved) > 0 {
		n.description = strings.TrimSpace(n.description + "\n\n{" + strings.Join(n.moved, ", ") + "}")
	}
	if n.description != "" {
		n.member("description", jsonvalue.AppendText(nil, n.description))
	}
	return append(n.text, '}')
}

func eachMember(v jsontree.Value) []byte {
	n := schemaWriter{text: []byte("{")}
	for name, value := range v.Members() {
		n.member(string(name), narrowed(value))
	}
	return append(n.text, '}')
}

func eachElement(v jsontree.Value) []byte {
	var list []string
	for value := range v.Elements() {
		list = append(list, string(narrowed(value)))
	}
	return []byte("[" + strings.Join(list, ",") + "]")
}
