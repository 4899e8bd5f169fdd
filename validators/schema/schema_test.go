package schema

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func compile(t *testing.T, source string) *Schema {
	t.Helper()
	v, err := Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Compile(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const titled = `{"type": "object", "required": ["title"], "properties": {"title": {"type": "string", "minLength": 2}}}`

func TestExtract(t *testing.T) {
	s := compile(t, titled)
	for _, c := range []struct{ name, text, want string }{
		{"whole", ` {"title": "ab"} `, `{"title":"ab"}`},
		{"fence", "Here:\n```json\n{\"title\": \"ab\"}\n```\nDone.", `{"title":"ab"}`},
		{"prose", `The answer is {"title": "ab"}, I think.`, `{"title":"ab"}`},
		{"braces in strings", `so {"title": "a } { b"} it is`, `{"title":"a } { b"}`},
		{"braces in prose", `for {x} in {y}: {"title": "ab"} {z}`, `{"title":"ab"}`},
		{"the last that validates", `{"title": "first"} {"title": "second"} {"name": "third"}`, `{"title":"second"}`},
		{"thinking left out", `{"title": "ab"} <think>{"title": "no"}</think>`, `{"title":"ab"}`},
		{"closing think alone", `{"title": "no"}</think>{"title": "ab"}`, `{"title":"ab"}`},
		{"think inside a string", `{"title": "<think>x</think>"}`, `{"title":"\u003cthink\u003ex\u003c/think\u003e"}`},
		{"inside an unclosed array", `[ 1, {"title": "ab"}`, `{"title":"ab"}`},
		{"behind a stray quote", `["note: it is {"title": "ab"}`, `{"title":"ab"}`},
		{"nested", `x {"title": "ab", "more": {"a": [1, {"b": null}]}} y`, `{"more":{"a":[1,{"b":null}]},"title":"ab"}`},
		{"tilde fence", "~~~\n{\"title\": \"ab\"}\n~~~", `{"title":"ab"}`},
		{"inner fence in a string", "```json\n{\"title\": \"use ```go\"}\n```", "{\"title\":\"use ```go\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, broken, err := Extract(c.text, s)
			if err != nil || len(broken) > 0 {
				t.Fatalf("got %v, %v", broken, err)
			}
			if got, _ := json.Marshal(v); string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestExtractReportsLast(t *testing.T) {
	v, broken, err := Extract(`{"title": "x"} then {"title": 7}`, compile(t, titled))
	if err != nil {
		t.Fatal(err)
	}
	want := []Violation{{Path: "$.title", Rule: "type", Message: "got number, want string", Expected: "string", Got: "number"}}
	if !reflect.DeepEqual(broken, want) {
		t.Errorf("got %+v of %v", broken, v)
	}
}

func TestExtractScalarFence(t *testing.T) {
	s := compile(t, `{"type": "integer"}`)
	v, broken, err := Extract("It is\n```\n42\n```\n", s)
	if err != nil || broken != nil || v != 42 {
		t.Errorf("got %v %v %v", v, broken, err)
	}
}

func TestExtractNothing(t *testing.T) {
	for text, want := range map[string]string{
		"no json at all":                          "there is no JSON in the text",
		"cut off {\"a\": [1, 2":                   "it ends inside an object or array",
		"bad\n{\"a\": +1} there":                  "line 2, column 7: invalid character '+'",
		"<think>{\"a\": 1}</think> only thoughts": "there is no JSON in the text",
	} {
		_, _, err := Extract(text, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// Hostile texts must cost no more than their length: quadratic time would run
// for hours here.
func TestExtractIsLinear(t *testing.T) {
	const n = 1 << 20
	for name, text := range map[string]string{
		"open brackets":   strings.Repeat("[", n),
		"open braces":     strings.Repeat("{", n),
		"stray quotes":    strings.Repeat(`["{`, n/3),
		"long strings":    strings.Repeat(`["aaaa [`, n/8),
		"unclosed string": `["` + strings.Repeat("[", n),
		"keys":            strings.Repeat(`{"a":`, n/5),
		"ones":            strings.Repeat("[1,", n/3),
		"fences":          strings.Repeat("```\n", n/4),
		"backticks":       strings.Repeat("`", n),
		"think":           strings.Repeat("<think>", n/7) + "</think>",
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan struct{})
			go func() { Extract(text, nil); close(done) }()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("still running")
			}
		})
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]any{
		"1": 1, "1.5": 1.5, "-9223372036854775808": math.MinInt64, `"x"`: "x", "null": nil, "[1, 2.5]": []any{1, 2.5},
	} {
		if got, err := Parse([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"{\"a\": 1,\n}": "line 2, column 1", "": "ends too early", "1 2": "line 1, column 3: text behind", "\xff": "not UTF-8",
		"1e10001": "exponent", "[1E-99999999999999999999]": "exponent", strings.Repeat("9", 10001): "digits",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestFormatsAreChecked(t *testing.T) {
	s := compile(t, `{"properties": {"email": {"format": "email"}, "day": {"format": "date"}}}`)
	broken := s.Check(map[string]any{"email": "no", "day": "2025-02-30"})
	if len(broken) != 2 || broken[0].Rule != "format" {
		t.Errorf("got %+v", broken)
	}
}

func TestReportIsBounded(t *testing.T) {
	s := compile(t, `{"items": {"type": "string", "pattern": "^a"}}`)
	many := make([]any, 10000)
	for i := range many {
		many[i] = strings.Repeat("x", 10000)
	}
	broken := s.Check(many)
	text, _ := json.Marshal(broken)
	if len(broken) != maxViolations || len(text) > 100_000 {
		t.Errorf("%d violations in %d bytes", len(broken), len(text))
	}
}

// The same value always gives the same report: it goes into prompts, and a run
// that is done again must ask what it asked before.
func TestReportIsStable(t *testing.T) {
	s := compile(t, `{"required": ["x", "y"], "properties": {"a": {"type": "string"}, "b": {"minLength": 5}, "c": {"enum": [1]}, "d": {"items": {"type": "string"}}}, "additionalProperties": false}`)
	value := map[string]any{"p": 1, "q": 1, "r": 1, "s": 1, "a": 1, "b": "b", "c": 2, "d": []any{1, "x", 2, "x", "x", "x", "x", "x", "x", "x", 3}}
	first := s.Check(value)
	var places []string
	for _, v := range first {
		places = append(places, v.Path)
	}
	if want := []string{"$", "$", "$.a", "$.b", "$.c", "$.d[0]", "$.d[2]", "$.d[10]"}; !reflect.DeepEqual(places, want) {
		t.Errorf("got %v", places)
	}
	for range 50 {
		if again := s.Check(value); !reflect.DeepEqual(again, first) {
			t.Fatalf("got %v, then %v", first, again)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for source, want := range map[string]string{
		`{"type": "strin"}`:                       "schema $.type: value must be one of",
		`{"$ref": "http://127.0.0.1/x.json"}`:     "nothing is fetched",
		`{"$ref": "file:///etc/passwd"}`:          "nothing is fetched",
		`{"pattern": "("}`:                        "schema $.pattern",
		`{"properties": {"a": {"minimum": "x"}}}`: "schema $.properties.a.minimum",
	} {
		v, _ := Parse([]byte(source))
		if _, err := Compile(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", source, err, want)
		}
	}
}

func TestParams(t *testing.T) {
	type params struct {
		Max  int    `json:"max" jsonschema:"most characters"`
		Unit string `json:"unit,omitempty"`
	}
	p := NewParams[params]()
	got, err := p.Read(map[string]any{"max": 3})
	if err != nil || got.Max != 3 {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, bad := range []map[string]any{nil, {"max": "3"}, {"max": 1, "mx": 2}} {
		if _, err := p.Read(bad); err == nil {
			t.Errorf("%v was read", bad)
		}
	}
	if p.Schema()["properties"].(map[string]any)["max"].(map[string]any)["description"] != "most characters" {
		t.Errorf("got %v", p.Schema())
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{`{"a": [1, "}"]} x`, "```\n1\n```", `["{`, "<think>[</think>{}", "{\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, _, err := Extract(text, nil)
		if err != nil {
			return
		}
		// Inserted into prose, what was found is found again.
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%q gave %v", text, v)
		}
		if _, _, err := Extract(string(again), nil); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}
