package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	source := mustParse(t, `{"type": "strng", "minLength": -1, "properties": {"a.b": {"type": "sting"}, "c": {"items": [1]}}, "$defs": {"x": {"required": "y"}}}`)
	var got []string
	for _, f := range Faults(source) {
		got = append(got, f.Path)
	}
	for _, want := range []string{"$.type", "$.minLength", `$.properties["a.b"].type`, "$.properties.c.items", "$.$defs.x.required"} {
		if want = strings.ReplaceAll(want, ".$defs", `["$defs"]`); !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	if Faults(mustParse(t, `{"type": "string", "$ref": "#/nowhere"}`)) != nil {
		t.Error("a reference is Compile's to tell")
	}
}

func TestStrays(t *testing.T) {
	for source, want := range map[string]string{
		`{"requird": ["a"], "properties": {"titel": {"minLenght": 1}, "x": {"enum": [{"y": 1}], "default": {"z": 1}}}}`:                                                                "$ requird $.properties.titel minLenght",
		`{"items": {"x-note": 1}, "anyOf": [{"typ": 1}, true], "$defs": {"a": {"not": {"foo": 1}}}}`:                                                                                   `$.anyOf[0] typ $.items x-note $["$defs"].a.not foo`,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "dependentRequired": {}, "if": {"thenn": 1}}`:                                                                          "$ dependentRequired $.if thenn",
		`{"$comment": "x", "unevaluatedProperties": false, "dependentRequired": {}, "definitions": {}, "format": "x", "contentMediaType": "y", "deprecated": true, "prefixItems": []}`: "",
	} {
		var got []string
		for _, s := range UnknownKeys(mustParse(t, source)) {
			got = append(got, fmt.Sprintf("%s %s", s.Path, s.Key))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

func TestLost(t *testing.T) {
	for source, want := range map[string]string{
		`{"$ref": "#/nowhere"}`:          `$["$ref"]`,
		`{"$ref": "#"}`:                  "",
		`{"$ref": "other.json#/a"}`:      `$["$ref"]`,
		`{"properties": {"$ref": true}}`: "",
		`{"properties": {"r": {"$ref": "#/definitions/b"}, "s": {"anyOf": [{}, {"$ref": "#/$defs/c"}]}, "t": {"$ref": "http://x.y/z"}}, "pattern": "(?=x)"}`: `$.properties.r["$ref"] $.properties.s.anyOf[1]["$ref"] $.properties.t["$ref"]`,
		`{"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#nowhere"}}, "b": {"$ref": "#/nowhere"}, "c": {"$anchor": "c", "$ref": "#/$defs/a"}}}`:     `$["$defs"].a.items["$ref"]`,
		`{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "items": {"$ref": "#/nowhere"}, "definitions": {"a": {}}}`:        "",
		`{"$dynamicRef": "#a", "$recursiveRef": "#b"}`: `$["$dynamicRef"]`,
		`{"items": {"$id": "inner.json", "$defs": {"a": {}}, "not": {"$ref": "#/$defs/a"}, "if": {"$ref": "#/items"}, "then": {"$ref": "schema.json"}}}`: `$.items.if["$ref"]`,
		`{"items": {"$schema": "http://no.such/"}, "$ref": "#/nowhere"}`:                                                                                 `$["$ref"]`,
		`true`: "",
	} {
		var got []string
		for _, l := range BrokenReferences(mustParse(t, source)) {
			got = append(got, l.Path)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
		if _, err := Compile(mustParse(t, source)); err == nil && want != "" {
			t.Errorf("%s: it compiles", source)
		}
	}
}
