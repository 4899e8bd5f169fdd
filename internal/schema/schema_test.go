package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
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

func TestParse(t *testing.T) {
	for text, want := range map[string]any{
		"1": 1, "1.5": 1.5, "-9223372036854775808": math.MinInt64, `"x"`: "x", "null": nil, "[1, 2.5]": []any{1, 2.5},
	} {
		if got, err := Parse([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"{\"a\": 1,\n}": "line 1, column 8", "": "ends too early", "1 2": "line 1, column 3: there is text after", "\xff": "not UTF-8",
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

// The same value always has the same report. Reports go into prompts, and a
// resumed run must send the same prompts.
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
		`{"type": "strin"}`:                       "schema $.type: must be one of",
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
		Max  int    `json:"max" jsonschema:"maximum number of characters"`
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
	if p.Schema()["properties"].(map[string]any)["max"].(map[string]any)["description"] != "maximum number of characters" {
		t.Errorf("got %v", p.Schema())
	}
}

// The decoder of a type must accept exactly the values that its schema accepts.
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
		if text := fmt.Sprintf("%s %v %s %v", got.Raw, got.Bytes, got.Number, err); want != "" && text != want || want == "" && err == nil {
			t.Errorf("%s: got %s, want %s", source, text, want)
		}
	}
	if p.Schema()["properties"].(map[string]any)["raw"].(map[string]any)["description"] != "as it is" {
		t.Errorf("got %v", p.Schema())
	}
}
