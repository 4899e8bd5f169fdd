package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/schema"
)

// TestFeedback checks the messages for broken keywords.
func TestFeedback(t *testing.T) {
	const union = `{"properties": {"account": {"oneOf": [
		{"type": "object", "required": ["kind", "account_id"], "additionalProperties": false, "properties": {"kind": {"const": "id"}, "account_id": {"type": "string"}}},
		{"type": "object", "required": ["kind", "brand", "operator"], "additionalProperties": false, "properties": {"kind": {"enum": ["natural"]}, "brand": {"type": "string"}, "operator": {"type": "string"}}}]}}}`
	const optional = `{"properties": {"addr": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}, "$defs": {"A": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}}}`
	const tree = `{"$defs": {"T": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["l", "r"], "properties": {"l": {"$ref": "#/$defs/T"}, "r": {"$ref": "#/$defs/T"}}}]}}, "$ref": "#/$defs/T"}`
	for _, test := range []struct{ schema, value, want string }{
		{`{"exclusiveMinimum": 0}`, `0`, `$: must be greater than 0, is 0`},
		{`{"exclusiveMaximum": 1}`, `1`, `$: must be less than 1, is 1`},
		{`{"minimum": 1, "maximum": 3}`, `5`, `$: must be at most 3, is 5`},
		{`{"minLength": 1}`, `""`, `$: must have at least 1 character, has 0`},
		{`{"maxItems": 2}`, `[1,2,3]`, `$: must have at most 2 items, has 3`},
		{`{"minProperties": 2}`, `{}`, `$: must have at least 2 properties, has 0`},
		{`{"type": ["integer", "null"]}`, `"x"`, `$: must be null or an integer, is a string`},
		{`{"const": null}`, `1`, `$: must be null`},
		{`{"enum": [[1], {"a": 2}]}`, `1`, `$: must be one of [1], {"a":2}`},
		{`{"properties": {"tag": {"not": {"enum": ["none"]}}}, "unevaluatedProperties": false}`, `{"tag": "none", "x": 1}`, `$.tag: must not match {"enum":["none"]}; $.x: is not allowed`},
		{`{"contains": {"type": "string"}}`, `[1]`, `$: must have an item that matches {"type":"string"}`},
		{`{"contains": {"type": "string"}, "minContains": 2}`, `["a", 1]`, `$: must have at least 2 items that match contains, has 1 (at 0)`},
		{`{"oneOf": [{"type": "string"}, {"minLength": 1}, {"maxLength": 9}]}`, `"a"`, `$: must match exactly one of 3 alternatives, matches 1 and 2`},
		{union, `{"account": {"kind": "natural", "brand": "x"}}`, `$.account: missing property 'operator'`},
		{union, `{"account": {"kind": "id", "brand": 1}}`, `$.account: additional properties 'brand' not allowed; $.account: missing property 'account_id'`},
		{union, `{"account": []}`, `$.account: must be an object, is an array`},
		{`{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `{}`, `$: must match exactly one of 2 alternatives, matches none (1: missing property 'a', or 2: missing property 'b')`},
		{optional, `{"addr": {"street": "x"}}`, `$.addr: missing property 'city'`},
		{optional, `{"addr": 7}`, `$.addr: must be null or an object, is a number`},
		{tree, `{"l": "a", "r": {"l": "b"}}`, `$.r: missing property 'r'`},
		{tree, `{"l": 1, "r": {"l": 1, "r": 2}}`, `$.l: must be a string or an object, is a number; $.r.l: must be a string or an object, is a number; $.r.r: must be a string or an object, is a number`},
		{`{"allOf": [{"$ref": "#/$defs/A"}, {"anyOf": [{"$ref": "#/$defs/A"}, {"maximum": 0}]}], "$defs": {"A": {"minimum": 9}}}`, `5`, `$: must match at least one of 2 alternatives, matches none (1: must be at least 9, is 5, or 2: must be at most 0, is 5); $: must be at least 9, is 5`},
	} {
		s, err := schema.Compile(parsed(t, test.schema))
		if err != nil {
			t.Fatal(err)
		}
		broken, err := s.Check(nil, parsed(t, test.value))
		lines := make([]string, len(broken))
		for i, v := range broken {
			lines[i] = v.String()
		}
		if got := strings.Join(lines, "; "); err != nil || got != test.want {
			t.Errorf("%s\n%s: got %s, %v\nwant %s", test.schema, test.value, got, err, test.want)
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFieldsInWords decodes into Go types. Errors must not contain their names.
func TestFieldsInWords(t *testing.T) {
	type verdict struct {
		Score float64  `json:"score"`
		Valid bool     `json:"valid"`
		Tags  []string `json:"tags"`
	}
	for text, want := range map[string]string{
		`{"score": "0.8"}`: "score must be a number, is a string",
		`{"valid": 1}`:     "valid must be a boolean, is a number",
		`{"tags": true}`:   "tags must be an array, is a boolean",
		`[]`:               "must be an object, is an array",
	} {
		var v verdict
		if err := schema.Unmarshal([]byte(text), &v); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestLookAround checks patterns as Pydantic and Zod write them. A match that
// takes too long, or a text that is too long, has no verdict.
func TestLookAround(t *testing.T) {
	const decimal, email, slow = `^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`,
		`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`, `^(?!x)(a+)+$`
	for _, test := range []struct {
		pattern, text string
		valid, untold bool
	}{
		{decimal, "12.50", true, false}, {decimal, "-.", false, false}, {decimal, "1\n", false, false},
		{email, "ada@example.com", true, false}, {email, "a..b@example.com", false, false},
		{`^(?!.*--)[a-z-]+$`, "a-b", true, false}, {`^(?!.*--)[a-z-]+$`, "a--b", false, false},
		{`(?<=\$)\d+$`, "costs $5", true, false}, {`^(.)\1$`, "aa", true, false}, {`^(?![$])[a$]+$`, "a$", true, false},
		{slow, strings.Repeat("a", 60) + "!", false, true}, {decimal, strings.Repeat("1", 1<<20+1), false, true},
	} {
		s, err := schema.Compile(map[string]any{"pattern": test.pattern, "patternProperties": map[string]any{test.pattern: true}, "additionalProperties": false})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []any{test.text, map[string]any{test.text: 1}} {
			broken, err := s.Check(nil, value)
			if (err != nil) != test.untold || err == nil && (len(broken) == 0) != test.valid {
				t.Errorf("%s in %.20q: got %v, %v", test.pattern, test.text, broken, err)
			}
			if test.untold && !errors.Is(err, schema.ErrUnchecked) {
				t.Errorf("%s: got %v", test.pattern, err)
			}
		}
	}
	many := make([]any, 100)
	for i := range many {
		many[i] = strings.Repeat("a", 20+i%3) + "!"
	}
	s, err := schema.Compile(map[string]any{"items": map[string]any{"pattern": slow}})
	if err != nil {
		t.Fatal(err)
	}
	if broken, err := s.Check(nil, many); err == nil && len(broken) != 50 {
		t.Errorf("got %d violations", len(broken))
	}
	if _, err := schema.Compile(map[string]any{"pattern": `(?!a`}); err == nil {
		t.Error("a broken pattern compiles")
	}
}

// TestOddBlank checks that the error names a blank that JSON does not accept.
func TestOddBlank(t *testing.T) {
	for text, want := range map[string]string{
		"{\u00a0\"a\":\u00a01}":     "there is no JSON in the text; line 1, column 2: the character U+00A0 is no blank in JSON, so write a space",
		"Hello,\u00a0you.\n[\u2003": "there is no JSON in the text; line 1, column 7: the character U+00A0 is no blank in JSON, so write a space",
		"Hello\u00a0you.":           "there is no JSON in the text",
	} {
		if _, _, err := schema.Extract(nil, text, nil); !errors.Is(err, schema.ErrNoJSON) || err.Error() != want {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
