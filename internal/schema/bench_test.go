package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// order returns a schema and a document of a size that is usual in cascades.
func order(lines int) (schema, document string) {
	var b strings.Builder
	for i := range lines {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"sku": "A-%04d", "title": "A thing that is sold, number %d", "price": %d.5, "count": %d, "tags": ["new", "blue"], "at": "2025-06-01T10:00:00Z"}`, i, i, i, i)
	}
	return `{"type": "object", "required": ["id", "lines"], "additionalProperties": false, "properties": {
		"id": {"type": "string", "pattern": "^[a-z0-9-]+$"}, "total": {"type": "number", "minimum": 0},
		"lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/line"}}},
		"$defs": {"line": {"type": "object", "required": ["sku", "title", "price"], "properties": {
			"sku": {"type": "string", "minLength": 3}, "title": {"type": "string", "maxLength": 200}, "price": {"type": "number", "exclusiveMinimum": 0},
			"count": {"type": "integer", "minimum": 0}, "tags": {"type": "array", "items": {"enum": ["new", "old", "blue"]}}, "at": {"type": "string", "format": "date-time"}}}}}`,
		`{"id": "o-1", "total": 12.5, "lines": [` + b.String() + `]}`
}

func library(b *testing.B, source string) *jsonschema.Schema {
	b.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(source))
	if err != nil {
		b.Fatal(err)
	}
	s, err := reference(b, v)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkFence extracts JSON from a fence and validates it. For comparison,
// the library receives the bare document.
func BenchmarkFence(b *testing.B) {
	for _, lines := range []int{3, 300} {
		source, document := order(lines)
		s, lib := compile(b, source), library(b, source)
		text := "Here is what you asked for.\n\n```json\n" + document + "\n```\n\nAnything else?"
		b.Run(fmt.Sprintf("ours/%d", len(document)), func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				if _, broken, err := Extract(nil, text, s); err != nil || broken != nil {
					b.Fatal(broken, err)
				}
			}
		})
		b.Run(fmt.Sprintf("library/%d", len(document)), func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(document)))
				if err == nil {
					err = lib.Validate(v)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck measures only the evaluation.
func BenchmarkCheck(b *testing.B) {
	source, document := order(300)
	v := mustParse(b, document)
	s, lib := compile(b, source), library(b, source)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Check(nil, v)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lib.Validate(v)
		}
	})
}

// BenchmarkParse parses a document, for comparison also with encoding/json.
func BenchmarkParse(b *testing.B) {
	_, document := order(300)
	text := []byte(document)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			Parse(text)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			json.Unmarshal(text, &v)
		}
	})
}

// BenchmarkCompile measures the cost of each schema when a cascade is loaded.
func BenchmarkCompile(b *testing.B) {
	source, _ := order(1)
	v := mustParse(b, source)
	draft20.metaschema()
	for b.Loop() {
		if _, err := Compile(v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnion checks a syntax tree with a mistake at the bottom. Evaluators
// that store no results need time that doubles with each level.
func BenchmarkUnion(b *testing.B) {
	s := compile(b, program)
	v := mustParse(b, deep(`{"op": "+", "left": {"op": "*", "left": 1, "right": 2}, "right": `, `"no"`, "}", 8))
	for b.Loop() {
		s.Check(nil, v)
	}
}
