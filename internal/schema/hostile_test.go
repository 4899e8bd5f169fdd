package schema

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// program is a recursive union, as the syntax tree of every language is.
const program = `{"$defs": {"expr": {"anyOf": [
	{"type": "object", "required": ["op", "left", "right"], "properties": {"op": {"enum": ["+", "-"]}, "left": {"$ref": "#/$defs/expr"}, "right": {"$ref": "#/$defs/expr"}}, "additionalProperties": false},
	{"type": "object", "required": ["op", "left", "right"], "properties": {"op": {"enum": ["*", "/"]}, "left": {"$ref": "#/$defs/expr"}, "right": {"$ref": "#/$defs/expr"}}, "additionalProperties": false},
	{"type": "object", "required": ["call", "args"], "properties": {"call": {"$ref": "#/$defs/expr"}, "args": {"type": "array", "items": {"$ref": "#/$defs/expr"}}}},
	{"type": "array", "items": {"$ref": "#/$defs/expr"}}, {"type": "number"}]}}, "$ref": "#/$defs/expr"}`

func deep(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

// For these schemas and values, other evaluators need time that doubles with
// each level.
var hostile = map[string]struct{ schema, value string }{
	"a syntax tree with a mistake": {program, deep(`{"op": "+", "left": {"op": "*", "left": 1, "right": 2}, "right": `, `"no"`, "}", 200)},
	"both sides":                   {program, deep(`{"op": "*", "left": {"op": "?"}, "right": `, `{"op": 1}`, "}", 200)},
	"a list union":                 {`{"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"type": "array", "items": {"$ref": "#"}, "minItems": 1}, {"type": "string"}]}`, deep("[", "1", "]", 5000)},
	"one of":                       {`{"oneOf": [{"items": {"$ref": "#"}, "type": "array"}, {"prefixItems": [{"$ref": "#"}], "type": "array"}, {"type": "null"}]}`, deep("[", "null", "]", 5000)},
	"a chain of definitions":       {chain(60), `1`},
	"a chain, unevaluated":         {strings.Replace(chain(60), `{`, `{"unevaluatedProperties": false, `, 1), `{"a": 1}`},
	"if over itself":               {`{"if": {"properties": {"a": {"$ref": "#"}}, "required": ["b"]}, "then": {"properties": {"a": {"$ref": "#"}}}, "else": {"properties": {"a": {"$ref": "#"}}, "not": {"properties": {"a": {"$ref": "#"}}}}}`, deep(`{"a": `, "1", "}", 3000)},
	"dynamic":                      {`{"$id": "http://x/a", "$dynamicAnchor": "n", "anyOf": [{"properties": {"a": {"$dynamicRef": "#n"}}, "required": ["b"]}, {"properties": {"a": {"$dynamicRef": "#n"}}, "required": ["c"]}]}`, deep(`{"a": `, "1", "}", 3000)},
	"unique":                       {`{"uniqueItems": true, "items": {"$ref": "#"}}`, deep("[[],", "1", "]", 3000)},
	"names":                        {`{"patternProperties": {"(a|aa)+$": {"$ref": "#"}, "^a": {"$ref": "#"}}, "additionalProperties": false}`, deep(`{"aaaaaaaaaaaaaaaaaaaaaaaaaaaa": `, "1", "}", 3000)},
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/d0", "$defs": {`)
	for i := range n {
		next := string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		name := string(rune('0'+i/10)) + string(rune('0'+i%10))
		if i == 0 {
			name = "0"
		}
		b.WriteString(`"d` + name + `": {"anyOf": [{"$ref": "#/$defs/d` + next + `"}, {"allOf": [{"$ref": "#/$defs/d` + next + `"}]}]}, `)
	}
	b.WriteString(`"d` + string(rune('0'+n/10)) + string(rune('0'+n%10)) + `": {"type": "string"}}}`)
	return b.String()
}

// The work grows with the schema's places times the value's places. The test
// counts units, not time.
func TestWorkIsBounded(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			s := compile(t, c.schema)
			value, err := Parse([]byte(c.value))
			if err != nil {
				t.Fatal(err)
			}
			w := newBudget(nil)
			if _, err := s.check(w, value); err != nil {
				t.Fatal(err)
			}
			if most := 30 * len(c.schema) * (len(c.value) + 10); maxWork-w.left > most {
				t.Errorf("%d units, more than %d", maxWork-w.left, most)
			}
		})
	}
}

// A check beyond the limit has no verdict.
func TestTooMuchWork(t *testing.T) {
	s := compile(t, `{"items": {"allOf": [`+strings.Repeat(`{"not": {"type": "string"}},`, 5000)+`true]}}`)
	many := make([]any, 20_000)
	for _, value := range []any{many, map[string]any{"a": 1}} {
		w := newBudget(nil)
		w.left = 1_000_000
		broken, err := s.check(w, value)
		if _, list := value.([]any); list != errors.Is(err, ErrWork) || list != errors.Is(err, ErrUnchecked) || broken != nil {
			t.Errorf("got %v, %v", broken, err)
		}
	}
}

// A check ends when Stop returns an error.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("enough")
	cancel(mine)
	asked := 0
	stop := func() error { asked++; return context.Cause(ctx) }
	s := compile(t, `{"items": {"type": "integer"}}`)
	if _, err := s.Check(stop, make([]any, 100_000)); !errors.Is(err, mine) || !errors.Is(err, ErrUnchecked) || asked != 1 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
	if _, _, err := Extract(stop, strings.Repeat(`{"a": 1} `, 20_000), compile(t, titled)); !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
}

// A schema with an endless reference decides nothing.
func TestEndless(t *testing.T) {
	for _, source := range []string{`{"$ref": "#"}`, `{"allOf": [{"anyOf": [{"$ref": "#"}]}]}`, `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`} {
		if broken, err := compile(t, source).Check(nil, 1); !errors.Is(err, ErrUnchecked) || broken != nil {
			t.Errorf("%s: got %v, %v", source, broken, err)
		}
	}
}

// Go ends a program whose stack is full, so depth is limited too.
func TestDepth(t *testing.T) {
	levels := deep(`{"allOf": [`, `{"items": {"$ref": "#"}}`, `]}`, 300)
	value, err := Parse([]byte(deep("[", "", "]", 9000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile(t, levels).Check(nil, value); !errors.Is(err, ErrUnchecked) {
		t.Errorf("got %v", err)
	}
	if _, err := Compile(mustParse(t, deep(`{"not": `, "true", "}", 9000))); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("got %v", err)
	}
}

func mustParse(t testing.TB, text string) any {
	t.Helper()
	v, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An attacker may control both the schema and the value. A check must end
// within its limit, repeat its result, and report at most a limited list.
func FuzzCheck(f *testing.F) {
	for _, c := range hostile {
		f.Add(c.schema, `[[{"a": {"op": "+", "left": 1}}], 1, "no"]`)
	}
	f.Add(titled, `{"title": "x", "title": 1}`)
	f.Fuzz(func(t *testing.T, source, text string) {
		raw, err := Parse([]byte(source))
		if err != nil || len(source) > 2000 {
			return
		}
		value, err := Parse([]byte(text))
		if err != nil {
			return
		}
		s, err := Compile(raw)
		if err != nil {
			return
		}
		within := func(units int) ([]Violation, error) {
			w := newBudget(nil)
			w.left = units
			return s.check(w, value)
		}
		broken, err := within(50_000)
		again, wrong := within(100_000)
		if len(broken) > maxViolations || err != nil && broken != nil {
			t.Fatalf("%d violations, %v", len(broken), err)
		}
		if err == nil && (wrong != nil || len(again) != len(broken)) {
			t.Fatalf("%v, then %v, %v", broken, again, wrong)
		}
		for i, v := range broken {
			if again[i] != v || len(v.Message) > maxMessage+10 || v.Path == "" {
				t.Fatalf("%+v, then %+v", v, again[i])
			}
		}
	})
}
