package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A maker makes schemas and values from bytes. The first bytes have the most
// influence.
type maker struct {
	bytes []byte
	year  int
}

func (m *maker) pick(n int) int {
	if len(m.bytes) == 0 {
		return 0
	}
	b := m.bytes[0]
	m.bytes = m.bytes[1:]
	return int(b) % n
}

func (m *maker) defs() string {
	if m.year == 7 {
		return "definitions"
	}
	return "$defs"
}

func (m *maker) name() string { return []string{"a", "b", "c", "list", "0", "~/%"}[m.pick(6)] }

func (m *maker) value(depth int) any {
	switch kind := m.pick(9); {
	case kind >= 7 && depth > 0:
		object := map[string]any{}
		for range m.pick(4) {
			object[m.name()] = m.value(depth - 1)
		}
		return object
	case kind >= 5 && depth > 0:
		list := []any{}
		for range m.pick(4) {
			list = append(list, m.value(depth-1))
		}
		return list
	case kind == 4:
		return []any{nil, true, false}[m.pick(3)]
	case kind >= 2:
		return []any{"", "a", "abc", "b7", "2025-02-28", "x@y.org"}[m.pick(6)]
	}
	return []any{0, 1, 2, 3.5, json.Number("1.0"), json.Number("12345678901234567890"), -7, 10}[m.pick(8)]
}

func (m *maker) number() any {
	return []any{0, 1, 2, 3, 1.5, json.Number("12345678901234567890"), json.Number("3.0")}[m.pick(7)]
}

func (m *maker) schema(depth int) any {
	if depth == 0 || m.pick(12) == 0 {
		return []any{true, false, map[string]any{}, map[string]any{"type": "object"}}[m.pick(4)]
	}
	s := map[string]any{}
	for range 1 + m.pick(3) {
		m.word(s, depth)
	}
	if ref, ok := s["$ref"]; ok && m.year == 7 { // the library also reads const beside $ref
		return map[string]any{"$ref": ref}
	}
	return s
}

func (m *maker) schemas(depth int) []any {
	list := []any{m.schema(depth)}
	for range m.pick(3) {
		list = append(list, m.schema(depth))
	}
	return list
}

func (m *maker) named(depth int) map[string]any {
	object := map[string]any{}
	for range 1 + m.pick(3) {
		object[m.name()] = m.schema(depth)
	}
	return object
}

func (m *maker) word(s map[string]any, depth int) {
	depth--
	refs := []any{"#", "#/" + m.defs() + "/a", "#/" + m.defs() + "/b", "#b", "#/" + m.defs() + "/c"}
	words := []func(){
		func() {
			s["type"] = []any{"object", "array", "string", "number", "integer", "null", []any{"boolean", "string"}}[m.pick(7)]
		},
		func() { s["$ref"] = refs[m.pick(5)] },
		func() { s["anyOf"] = m.schemas(depth) },
		func() { s["oneOf"] = m.schemas(depth) },
		func() { s["allOf"] = m.schemas(depth) },
		func() { s["not"] = m.schema(depth) },
		func() { s["if"], s["then"], s["else"] = m.schema(depth), m.schema(depth), m.schema(depth) },
		func() { s["properties"] = m.named(depth) },
		func() { s["patternProperties"] = map[string]any{[]string{"^a", "t$", "."}[m.pick(3)]: m.schema(depth)} },
		func() { s["additionalProperties"] = m.schema(depth) },
		func() { s["unevaluatedProperties"] = m.schema(depth) },
		func() { s["unevaluatedItems"] = m.schema(depth) },
		func() { s["propertyNames"] = m.schema(depth) },
		func() { s["dependentSchemas"] = m.named(depth) },
		func() { s["dependentRequired"] = map[string]any{m.name(): []any{m.name()}} },
		func() { s["required"] = []any{m.name()} },
		func() { s["items"] = m.schema(depth) },
		func() {
			if m.year == 2020 {
				s["prefixItems"] = m.schemas(depth)
			} else {
				s["items"], s["additionalItems"] = m.schemas(depth), m.schema(depth)
			}
		},
		func() { s["contains"], s["maxContains"] = m.schema(depth), 1+m.pick(3) },
		func() { s["contains"], s["minContains"] = m.schema(depth), m.pick(3) },
		func() { s["uniqueItems"] = true },
		func() { s["minItems"], s["maxProperties"] = m.pick(3), m.pick(4) },
		func() { s["minimum"], s["exclusiveMaximum"] = m.number(), m.number() },
		func() { s["multipleOf"] = []any{1, 2, 1.5, json.Number("3.0")}[m.pick(4)] },
		func() { s["enum"] = []any{m.value(2), m.value(1)} },
		func() { s["const"] = m.value(2) },
		func() { s["minLength"], s["pattern"] = m.pick(3), []string{"^a", "7", ""}[m.pick(3)] },
		func() { s["format"] = []string{"date", "email", "unknown"}[m.pick(3)] },
		func() { s["$dynamicRef"] = []any{"#node", "#/$defs/c"}[m.pick(2)] },
		func() {
			if m.year == 2019 { // the library also reads $recursiveRef in 2020-12
				s["$recursiveRef"] = "#"
			}
		},
		func() { s["dependencies"] = m.named(depth) },
	}
	words[m.pick(len(words))]()
}

// whole returns a schema with the targets of its references.
func (m *maker) whole() map[string]any {
	s, _ := m.schema(4).(map[string]any)
	if s == nil {
		s = map[string]any{}
	}
	d := map[int]*dialect{7: draft7, 2019: draft19, 2020: draft20}[m.year]
	s["$schema"] = d.uri
	defs := map[string]any{"a": m.schema(3), "b": map[string]any{"allOf": m.schemas(2)}, "c": map[string]any{"properties": m.named(2)}}
	b, c := defs["b"].(map[string]any), defs["c"].(map[string]any)
	switch m.year {
	case 7:
		b["$id"] = "#b"
	case 2019:
		b["$anchor"], c["$id"], c["$recursiveAnchor"] = "b", "c.json", true
	default:
		b["$anchor"], c["$id"], c["$dynamicAnchor"], s["$dynamicAnchor"] = "b", "c.json", "node", "node"
	}
	s[m.defs()] = defs
	return s
}

func reference(t testing.TB, source any) (*jsonschema.Schema, error) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(nothing{})
	if err := c.AddResource(root, source); err != nil {
		return nil, err
	}
	return c.Compile(root)
}

type nothing struct{}

func (nothing) Load(url string) (any, error) { return nil, errors.New(url + " is not here") }

// differ compares the evaluator with a library that does the same slowly.
func differ(t *testing.T, data []byte) {
	m := &maker{bytes: data}
	m.year = []int{2020, 2019, 7}[m.pick(3)]
	source, value := m.whole(), m.value(4)
	other, wrong := reference(t, source)
	s, err := Compile(source)
	show := func(v any) string { text, _ := json.Marshal(v); return string(text) }
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%s: got %v, want %v", show(source), err, wrong)
	}
	if err != nil {
		return
	}
	broken, err := s.Check(nil, value)
	done := make(chan error, 1)
	go func() { done <- other.Validate(value) }()
	var want error
	select {
	case want = <-done:
	case <-time.After(2 * time.Second):
		t.Skip("the library takes too long")
	}
	if errors.Is(err, errEndless) {
		return // the library reports the value as invalid where the references form a circle
	}
	if err != nil {
		t.Fatal(err)
	}
	if (len(broken) == 0) != (want == nil) {
		t.Errorf("%s\n%s: got %v, want %v", show(source), show(value), broken, want)
	}
	if len(broken) > 0 && len(broken) < maxViolations {
		sameReport(t, broken, want)
	}
}

// sameReport compares the reported keywords with those of the library. If no
// branch of a choice matches, the library reports every branch.
func sameReport(t *testing.T, broken []Violation, want error) {
	var invalid *jsonschema.ValidationError
	if !errors.As(want, &invalid) {
		t.Fatal(want)
	}
	leaves := map[string]bool{}
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			word := ""
			if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
				word = path[0]
			}
			leaves[word] = true
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(invalid)
	for _, v := range broken {
		if v.Rule != "anyOf" && v.Rule != "oneOf" && !leaves[v.Rule] && !leaves[""] { // the library reports each branch of anyOf
			t.Errorf("%s is not among %q", v.Rule, slices.Sorted(maps.Keys(leaves)))
		}
	}
}

func TestDifferential(t *testing.T) {
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if differ(t, data); t.Failed() {
			t.Fatal("seed", seed)
		}
	}
}

// For fuzzed schemas and values, the verdict must be that of the library.
func FuzzDifferential(f *testing.F) {
	for i := range 8 {
		f.Add([]byte(strings.Repeat(string(rune('a'+i)), 50) + "0123456789"))
	}
	f.Fuzz(differ)
}
