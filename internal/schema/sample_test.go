package schema

import (
	"reflect"
	"strings"
	"testing"
)

const sampleSentence = "This text stands in for what a model would write."

func TestSample(t *testing.T) {
	for _, text := range []string{
		`{"type": "object", "required": ["name", "age"], "additionalProperties": false, "properties": {"name": {"type": "string", "minLength": 80, "maxLength": 100}, "age": {"type": "integer", "minimum": 0, "maximum": 150}}}`,
		`{"type": "string", "maxLength": 7}`,
		`{"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "string"}}`,
		`{"type": "array", "minItems": 2, "uniqueItems": true, "items": {"enum": ["a", "b", "c"]}}`,
		`{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": false, "minItems": 2}`,
		`{"enum": ["publish", "revise"]}`,
		`{"const": {"a": [1]}}`,
		`{"type": ["null", "number"], "exclusiveMinimum": 3, "exclusiveMaximum": 4}`,
		`{"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5}`,
		`{"type": "integer", "multipleOf": 7, "minimum": 15}`,
		`{"type": "integer", "multipleOf": 7, "maximum": 50, "minimum": 40}`,
		`{"type": "number", "multipleOf": 0.25, "minimum": 1.1}`,
		`{"type": "integer", "maximum": -3}`,
		`{"minimum": 10}`,
		`{"type": "string", "format": "date"}`, `{"type": "string", "format": "date-time"}`, `{"type": "string", "format": "time"}`,
		`{"type": "string", "format": "email"}`, `{"type": "string", "format": "uri"}`, `{"type": "string", "format": "uuid"}`,
		`{"type": "string", "format": "ipv4"}`, `{"type": "string", "format": "ipv6"}`, `{"type": "string", "format": "hostname"}`,
		`{"type": "string", "format": "duration"}`, `{"type": "string", "format": "semver"}`, `{"type": "string", "format": "json-pointer"}`,
		`{"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}`,
		`{"type": "string", "pattern": "^(yes|no): .+$"}`,
		`{"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "integer"}}}], "type": "object"}`,
		`{"anyOf": [{"type": "integer"}, {"type": "null"}]}`,
		`{"oneOf": [{"properties": {"kind": {"const": "a"}}, "required": ["kind"]}, {"properties": {"kind": {"const": "b"}}, "required": ["kind"]}]}`,
		`{"$defs": {"tree": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}}, "$ref": "#/$defs/tree"}`,
		`{"type": "object", "required": ["x"]}`,
		`{"properties": {"a": false, "b": {"type": "boolean"}}, "required": ["b"]}`,
		`{"contains": {"const": 5}}`,
		`{"examples": [{"any": "thing"}]}`,
		`true`,
	} {
		source, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			with := Sampling{Text: sampleSentence, High: i%2 == 1, Sparse: i > 1}
			v := s.Sample(with)
			if found, err := s.Check(nil, v); err != nil || len(found) > 0 {
				t.Errorf("%s\ngives %v: %v %v", text, v, found, err)
			}
			if again := s.Sample(with); !reflect.DeepEqual(v, again) {
				t.Errorf("%s\ngives %v, then %v", text, v, again)
			}
		}
	}
}

// A schema with many references to itself, or with large minimums, is sampled
// quickly, whatever the result.
func TestSampleIsBounded(t *testing.T) {
	for _, text := range []string{
		`{"$ref": "#"}`,
		`{"allOf": [{"$ref": "#"}, {"$ref": "#"}` + strings.Repeat(`, {"$ref": "#"}`, 100) + `]}`,
		`{"required": ["a", "b", "c", "d"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}, "c": {"$ref": "#"}, "d": {"$ref": "#"}}}`,
		`{"type": "string", "minLength": 1000000000}`,
		`{"type": "array", "minItems": 1000000000, "items": {"type": "array", "minItems": 1000000000, "items": {"type": "array", "minItems": 99, "items": {"type": "array", "minItems": 99}}}}`,
		`{"type": "string", "pattern": "^((a{10}){10}){9}$"}`,
		`{"type": "integer", "minimum": 1e300}`,
	} {
		source, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if size := byteSize(s.Sample(Sampling{Text: sampleSentence}), 10_000_000); size > 1_000_000 {
			t.Errorf("%s: a sample of size %d", text, size)
		}
	}
}

func TestMatching(t *testing.T) {
	for _, pattern := range []string{`^\d{3}$`, `<answer>(.*?)</answer>`, `(\{.*\})`, `(?s)FINAL:\s*(.+)`, `^(?:a|b)+$`, `[^a-z]`, `(?i)score`, ``, `x{2,}`, `^[\p{L} ]+$`} {
		if text, ok := Matching(pattern, "a text"); !ok {
			t.Errorf("%s: no text that it matches: %q", pattern, text)
		}
	}
	if _, ok := Matching(`a\bb`, "x"); ok {
		t.Error("a text for what matches nothing")
	}
	if text, _ := Matching(`<answer>(.*?)</answer>`, "a text"); !strings.Contains(text, "a text") {
		t.Errorf("%q has not the text", text)
	}
}
