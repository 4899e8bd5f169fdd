package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func compile(t testing.TB, source string) *Schema {
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

func check(t testing.TB, s *Schema, value any) []Violation {
	t.Helper()
	broken, err := s.Check(nil, value)
	if err != nil {
		t.Fatal(err)
	}
	return broken
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
		{"thinking in a longer word", `<thinking>{"title": "no"}</thinking> {"title": "ab"} <thinking>{"title": "no"}</thinking>`, `{"title":"ab"}`},
		{"a tag that is only named", `The tag <think> opens. {"title": "ab"}`, `{"title":"ab"}`},
		{"think inside a string", `{"title": "<think>x</think>"}`, `{"title":"\u003cthink\u003ex\u003c/think\u003e"}`},
		{"inside an unclosed array", `[ 1, {"title": "ab"}`, `{"title":"ab"}`},
		{"behind a stray quote", `["note: it is {"title": "ab"}`, `{"title":"ab"}`},
		{"nested", `x {"title": "ab", "more": {"a": [1, {"b": null}]}} y`, `{"more":{"a":[1,{"b":null}]},"title":"ab"}`},
		{"empty ones within", `x {"title": "ab", "more": [[], {}], "none": [], "nothing": {}} y`, `{"more":[[],{}],"none":[],"nothing":{},"title":"ab"}`},
		{"tilde fence", "~~~\n{\"title\": \"ab\"}\n~~~", `{"title":"ab"}`},
		{"inner fence in a string", "```json\n{\"title\": \"use ```go\"}\n```", "{\"title\":\"use ```go\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, broken, err := Extract(nil, c.text, s)
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
	v, broken, err := Extract(nil, `{"title": "x"} then {"title": 7}`, compile(t, titled))
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
	v, broken, err := Extract(nil, "It is\n```\n42\n```\n", s)
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
		"<think>\nmaybe {\"a\": 1}, but":          "there is no JSON in the text",
		" <thinking>{\"a\": \"</think>\"} hm":     "there is no JSON in the text",
	} {
		_, _, err := Extract(nil, text, nil)
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
			go func() { Extract(nil, text, nil); close(done) }()
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
	broken := check(t, s, map[string]any{"email": "no", "day": "2025-02-30"})
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
	broken := check(t, s, many)
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
	first := check(t, s, value)
	var places []string
	for _, v := range first {
		places = append(places, v.Path)
	}
	if want := []string{"$", "$", "$.a", "$.b", "$.c", "$.d[0]", "$.d[2]", "$.d[10]"}; !reflect.DeepEqual(places, want) {
		t.Errorf("got %v", places)
	}
	for range 50 {
		if again := check(t, s, value); !reflect.DeepEqual(again, first) {
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

// What the schema of a type takes, its decoder takes, and the other way round.
func TestParamsOfOddTypes(t *testing.T) {
	type params struct {
		Raw    json.RawMessage `json:"raw" jsonschema:"as it is"`
		Bytes  []byte          `json:"bytes,omitempty"`
		Number json.Number     `json:"number,omitempty"`
	}
	p := NewParams[params]()
	for source, want := range map[string]string{
		`{"raw": {"a": [1]}}`:             `{"a":[1]} []  <nil>`,
		`{"raw": "x", "bytes": "aGk="}`:   `"x" [104 105]  <nil>`,
		`{"raw": [104], "number": 12.50}`: `[104] [] 12.50 <nil>`,
		`{"raw": null}`:                   `null []  <nil>`,
		`{"raw": 1, "bytes": [104, 105]}`: "", `{"raw": 1, "bytes": "not base64"}`: "", `{}`: "", `{"raw": 1, "number": "x"}`: "", `{"raw": 1, "number": [1]}`: "",
	} {
		v, _ := Parse([]byte(source))
		got, err := p.Read(v.(map[string]any))
		if said := fmt.Sprintf("%s %v %s %v", got.Raw, got.Bytes, got.Number, err); want != "" && said != want || want == "" && err == nil {
			t.Errorf("%s: got %s, want %s", source, said, want)
		}
	}
	if p.Schema()["properties"].(map[string]any)["raw"].(map[string]any)["description"] != "as it is" {
		t.Errorf("got %v", p.Schema())
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{`{"a": [1, "}"]} x`, "```\n1\n```", `["{`, "<think>[</think>{}", "{\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, _, err := Extract(nil, text, nil)
		if err != nil {
			return
		}
		// Inserted into prose, what was found is found again.
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%q gave %v", text, v)
		}
		if _, _, err := Extract(nil, string(again), nil); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}

// Keys that stand twice are found whatever their spelling, at any depth.
func FuzzTwice(f *testing.F) {
	for _, s := range []string{`{"a": 1, "a": 2}`, `[{"a": {"b": []}, "b": [{"a": 1}, {"a": 2}]}]`, `{"a": "a", "b": "a"}`, `{"\u0061": 1, "a": 2}`, `1`, `[[[]]]`, `{"a": {}, "b": {"a": {}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, broken, err := Read([]byte(text))
		if valid := json.Valid([]byte(text)); valid != (err == nil) && utf8.ValidString(text) && !strings.Contains(fmt.Sprint(err), "number") {
			t.Fatalf("%s: %v, but for encoding/json %v", text, err, valid)
		}
		if err != nil {
			return
		}
		if want := twice(json.NewDecoder(strings.NewReader(text))); (len(broken) > 0) != want {
			t.Fatalf("%s: %v, want %v", text, broken, want)
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var other any
		if err := d.Decode(&other); err != nil {
			t.Fatal(err)
		}
		if canonical(v) != canonical(other) {
			t.Fatalf("%s: got %v, want %v", text, v, other)
		}
	})
}

// twice says by recursion whether a key stands twice.
func twice(d *json.Decoder) bool {
	start, err := d.Token()
	if err != nil {
		return false
	}
	found := false
	switch start {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, _ := d.Token()
			name, _ := key.(string)
			found = found || seen[name]
			seen[name] = true
			found = twice(d) || found
		}
		d.Token()
	case json.Delim('['):
		for d.More() {
			found = twice(d) || found
		}
		d.Token()
	}
	return found
}

// A key that stands twice is a violation under any schema, and such a candidate
// never wins.
func TestKeysThatStandTwice(t *testing.T) {
	s := compile(t, titled)
	for text, want := range map[string]string{
		`{"title": "ab", "title": "cd"}`:                           `$.title: the key "title" stands twice`,
		`so {"title": "ab", "t\u0069tle": 7}`:                      `$.title: the key "title" stands twice`,
		`{"title": "ab", "x": [{"a": {"b": 1, "b": 1}}]}`:          `$.x[0].a.b: the key "b" stands twice`,
		`{"title": "good"} {"title": "ab", "title": "cd"}`:         "",
		"```\n{\"title\": \"ab\", \"a\": {\"\": 1, \"\": 2}}\n```": `$.a[""]: the key "" stands twice`,
	} {
		v, broken, err := Extract(nil, text, s)
		if err != nil || want == "" && (broken != nil || v.(map[string]any)["title"] != "good") ||
			want != "" && (len(broken) == 0 || broken[0].String() != want || broken[0].Rule != "uniqueKeys") {
			t.Errorf("%s: got %v, %v, %v", text, v, broken, err)
		}
	}
	if _, err := Parse([]byte(`[{"a": 1, "b": {"a": 2, "a": 3}}]`)); err == nil || err.Error() != `$[0].b.a: the key "a" stands twice` {
		t.Errorf("got %v", err)
	}
}
