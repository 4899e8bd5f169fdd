package cascades

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/internal/schema"
)

// TestSchemaFiles reads schemas from files that refer to one another. Each file
// is read once and pinned.
func TestSchemaFiles(t *testing.T) {
	files := map[string]string{
		"c.yaml": `cascade_id: c
phases:
- {name: a, instructions: x, output_schema: "@schemas/order.json"}
- name: b
  instructions: x
  output_schema: {type: array, items: {$ref: "schemas/parts/item.json#/$defs/Item"}, default: {$ref: none.json}}
`,
		"schemas/order.json": `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/order.json", "type": "object",
			"properties": {"items": {"type": "array", "items": {"$ref": "parts/item.json#/$defs/Item"}}, "before": {"$ref": "order.json"}, "id": {"$ref": "#/$defs/Id"}, "n": {"type": "string", "nullable": true}},
			"$defs": {"Id": {"type": "integer"}}}`,
		"schemas/parts/item.json": `{"$id": "https://example.com/item.json", "$defs": {"Item": {"type": "object", "required": ["name"], "properties": {"name": {"$ref": "#/$defs/Name"}, "order": {"$ref": "../order.json#/$defs/Id"}, "in": {"$ref": "#/$defs/Item"}}}, "Name": {"minLength": 2}}}`,
	}
	read := map[string]int{}
	c, err := Load("c.yaml", func(name string) ([]byte, error) {
		read[name]++
		return cascadestest.Files(files)(name)
	}, Known{})
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`{"items": [{"name": "ab", "order": 1}], "before": {"id": 2}, "n": null}`: "",
		`{"items": [{"name": "a"}]}`:                "$.items[0].name: must have at least 2 characters, has 1",
		`{"items": [{"name": "ab", "order": "x"}]}`: "$.items[0].order: must be an integer, is a string",
		`{"items": [{"name": "ab", "in": {}}]}`:     "$.items[0].in: missing property 'name'",
		`{"before": {"before": {"id": "x"}}}`:       "$.before.before.id: must be an integer, is a string",
	} {
		checkValue(t, c.Phases[0].OutputSchema, value, want)
	}
	checkValue(t, c.Phases[1].OutputSchema, `[{"name": "a"}]`, "$[0].name: must have at least 2 characters, has 1")
	wire, err := c.Phases[1].OutputSchema.MarshalJSON()
	if err != nil || strings.Contains(strings.ReplaceAll(string(wire), "none.json", ""), `.json#`) {
		t.Errorf("the schema is sent as %s, %v", wire, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != "c.yaml" && !slices.Contains(c.reads, name) {
			t.Errorf("%s is not among the files of the cascade, %v", name, c.reads)
		}
	}
}

func checkValue(t *testing.T, s *schema.Schema, value, want string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	v, _ = schema.Plain(v)
	got := ""
	if err := s.Validate(nil, v); err != nil {
		got = err.Error()
	}
	if got = strings.TrimPrefix(got, "$"); got != strings.TrimPrefix(want, "$") {
		t.Errorf("%s: got %q, want %q", value, got, want)
	}
}
