package schema

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// program is what every language's syntax tree looks like: a recursive union.
const program = `{"$defs": {"expr": {"anyOf": [
	{"type": "object", "required": ["op", "left", "right"], "properties": {"op": {"enum": ["+", "-"]}, "left": {"$ref": "#/$defs/expr"}, "right": {"$ref": "#/$defs/expr"}}, "additionalProperties": false},
	{"type": "object", "required": ["op", "left", "right"], "properties": {"op": {"enum": ["*", "/"]}, "left": {"$ref": "#/$defs/expr"}, "right": {"$ref": "#/$defs/expr"}}, "additionalProperties": false},
	{"type": "object", "required": ["call", "args"], "properties": {"call": {"$ref": "#/$defs/expr"}, "args": {"type": "array", "items": {"$ref": "#/$defs/expr"}}}},
	{"type": "array", "items": {"$ref": "#/$defs/expr"}}, {"type": "number"}]}}, "$ref": "#/$defs/expr"}`

func deep(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

// What takes other evaluators time that doubles with each level.
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

// Work grows with the schema's places times the value's: counted, not timed.
func TestWorkIsBounded(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			s := compile(t, c.schema)
			value, err := Parse([]byte(c.value))
			if err != nil {
				t.Fatal(err)
			}
			w := newWork(nil)
			if _, err := s.check(w, value); err != nil {
				t.Fatal(err)
			}
			if most := 30 * len(c.schema) * (len(c.value) + 10); maxWork-w.left > most {
				t.Errorf("%d units, more than %d", maxWork-w.left, most)
			}
		})
	}
}

// Beyond the bound there is no verdict.
func TestTooMuchWork(t *testing.T) {
	s := compile(t, `{"items": {"allOf": [`+strings.Repeat(`{"not": {"type": "string"}},`, 5000)+`true]}}`)
	many := make([]any, 20_000)
	for _, value := range []any{many, map[string]any{"a": 1}} {
		w := newWork(nil)
		w.left = 1_000_000
		broken, err := s.check(w, value)
		if _, list := value.([]any); list != errors.Is(err, ErrWork) || list != errors.Is(err, ErrUntold) || broken != nil {
			t.Errorf("got %v, %v", broken, err)
		}
	}
	// All candidates of a text share one limit. Each of three takes half of it.
	never := compile(t, `{"allOf": [{"items": {"not": {"pattern": "(?:[a-z]{100}[0-9]){9}[xy]"}}}, false]}`)
	half := `["` + strings.Repeat("A", 200_000) + `"] `
	if _, _, err := Extract(nil, half, never); err != nil {
		t.Errorf("one of them: %v", err)
	}
	if _, _, err := Extract(nil, strings.Repeat(half, 3), never); !errors.Is(err, ErrWork) {
		t.Errorf("got %v", err)
	}
}

// A check ends when it is told to.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("enough")
	cancel(mine)
	asked := 0
	stop := func() error { asked++; return context.Cause(ctx) }
	s := compile(t, `{"items": {"type": "integer"}}`)
	if _, err := s.Check(stop, make([]any, 100_000)); !errors.Is(err, mine) || !errors.Is(err, ErrUntold) || asked != 1 {
		t.Errorf("got %v, asked %d times", err, asked)
	}
	if _, _, err := Extract(stop, strings.Repeat(`{"a": 1} `, 20_000), compile(t, titled)); !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
}

// A schema that never comes to an end says nothing of any value.
func TestEndless(t *testing.T) {
	for _, source := range []string{`{"$ref": "#"}`, `{"allOf": [{"anyOf": [{"$ref": "#"}]}]}`, `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`} {
		if broken, err := compile(t, source).Check(nil, 1); !errors.Is(err, ErrUntold) || broken != nil {
			t.Errorf("%s: got %v, %v", source, broken, err)
		}
	}
}

// Go ends a program whose stack is full, so depth is bounded too.
func TestDepth(t *testing.T) {
	levels := deep(`{"allOf": [`, `{"items": {"$ref": "#"}}`, `]}`, 300)
	value, err := Parse([]byte(deep("[", "", "]", 9000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compile(t, levels).Check(nil, value); !errors.Is(err, ErrUntold) {
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

// Schema and value are both an attacker's: a check comes to an end within its
// bound, the same way each time, and what it reports is bounded.
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
			w := newWork(nil)
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

// At a quadratic rate these would take hours.
func TestDecideIsLinear(t *testing.T) {
	d := Decision{Key: "valid", Accept: func(v any) bool { return v == true }, Against: func(any, string) bool { return false }}
	for name, unit := range map[string]string{
		"objects": `{"a":1} `, "verdicts": `{"valid":true} `, "broken": `{"valid": `, "tags": "<think></think>", "closing": "</think>", "opening": "<think>",
		"fences": "```\ntrue\n```\n", "escapes": `\u0076`, "keys": "valid", "quotes": `["`, "strings": `{"</think>":"<think>"}`, "backslashes": `{"\\\"`,
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			text := strings.Repeat(unit, 1<<20/len(unit))
			go func() { d.Decide(text); Extract(nil, text, nil); close(done) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("still running")
			}
		})
	}
}
