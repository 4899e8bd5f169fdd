package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func withSchema(schema string) model.Request {
	r := ask("Hello?")
	r.Schema = json.RawMessage(schema)
	return r
}

func TestResponseFormat(t *testing.T) {
	closed := `{"type": "object", "properties": %s, "required": %s, "additionalProperties": false}`
	deep := `{"type":"string"}`
	for range 2000 {
		deep = `{"type":"array","items":` + deep + `}`
	}
	for name, test := range map[string]struct {
		schema string
		strict bool
	}{
		"closed":             {fmt.Sprintf(closed, `{"a": {"type": "string", "format": "email"}}`, `["a"]`), true},
		"with $schema":       {`{"$schema": "https://json-schema.org/draft/2020-12/schema",` + fmt.Sprintf(closed, `{}`, `[]`)[1:], true},
		"nested":             {fmt.Sprintf(closed, `{"a": {"anyOf": [{"type": "null"}, `+fmt.Sprintf(closed, `{}`, `[]`)+`]}, "b": {"type": "array", "items": {"enum": ["x"]}}}`, `["a", "b"]`), true},
		"definitions":        {`{"$defs": {"x": {"type": "string"}},` + fmt.Sprintf(closed, `{"a": {"$ref": "#/$defs/x"}}`, `["a"]`)[1:], true},
		"open":               {`{"type": "object", "properties": {"a": {}}, "required": ["a"]}`, false},
		"an optional one":    {fmt.Sprintf(closed, `{"a": {}, "b": {}}`, `["a"]`), false},
		"another is needed":  {fmt.Sprintf(closed, `{"a": {}}`, `["b"]`), false},
		"open within":        {fmt.Sprintf(closed, `{"a": {"type": "array", "items": {"type": "object"}}}`, `["a"]`), false},
		"open in a choice":   {fmt.Sprintf(closed, `{"a": {"anyOf": [{"type": "object"}]}}`, `["a"]`), false},
		"other words":        {fmt.Sprintf(closed, `{"a": {"type": "string", "minLength": 3}}`, `["a"]`), false},
		"other formats":      {fmt.Sprintf(closed, `{"a": {"type": "string", "format": "uri"}}`, `["a"]`), false},
		"array":              {`{"type": "array", "items": {"type": "string"}}`, false},
		"choice at the root": {`{"anyOf": [{}],` + fmt.Sprintf(closed, `{}`, `[]`)[1:], false},
		"true":               {`true`, false},
		"odd":                {`{"type": "object", "properties": [], "required": {}, "additionalProperties": false, "anyOf": 1}`, false},
		"deep":               {fmt.Sprintf(closed, `{"a": `+deep+`}`, `["a"]`), false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, reply("{}"))
			r := withSchema(test.schema)
			r.Phase = "the draft ✓"
			c := e.client(t)
			for range 2 {
				if _, err := c.Call(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			var schema any
			_ = json.Unmarshal([]byte(test.schema), &schema)
			want := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "the_draft__", "strict": test.strict, "schema": schema}}
			for n := range 2 {
				if got := e.got(t, n)["response_format"]; !reflect.DeepEqual(got, want) {
					t.Errorf("sent %v", got)
				}
			}
		})
	}
}

func TestFormatName(t *testing.T) {
	e := newEndpoint(t, reply("{}"))
	c := e.client(t)
	for phase, want := range map[string]string{"": "answer", "a-b_C9": "a-b_C9", strings.Repeat("x", 99): strings.Repeat("x", 64), "é": "_"} {
		r := withSchema(`{}`)
		r.Phase = phase
		if _, err := c.Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		format := e.got(t, e.count()-1)["response_format"].(map[string]any)
		if got := format["json_schema"].(map[string]any)["name"]; got != want {
			t.Errorf("%s: sent %v", phase, got)
		}
	}
}

// If an endpoint rejects response_format, the client repeats the request
// without it and omits it later. If the endpoint rejects one schema, other
// schemas are still sent.
func TestFormatUnknown(t *testing.T) {
	other := `{"type": "object", "title": "other"}`
	for name, test := range map[string]struct {
		status   int
		message  string
		sentThen bool // whether another schema is sent afterwards
	}{
		"OpenAI":        {400, `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":"response_format"}}`, false},
		"param alone":   {400, `{"error":{"message":"Unsupported.","param":"response_format"}}`, false},
		"unprocessable": {422, `{"detail":[{"loc":["body","response_format","type"],"msg":"unexpected value"}]}`, false},
		"schema":        {400, `{"error":{"message":"Invalid schema for response_format 'draft': 'oneOf' is not permitted."}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, body(test.status, test.message), reply("{}"))
			c := e.client(t, func(o *openai.Options) { o.MaxTries = 1 })
			for n, schema := range []string{`{}`, `{}`, other} {
				resp, err := c.Call(t.Context(), withSchema(schema))
				if err != nil || resp.Text != "{}" || resp.Usage.Calls != max(2-n, 1) {
					t.Fatalf("got %+v, %v", resp, err)
				}
			}
			if len(e.sleeps) != 0 || e.count() != 4 {
				t.Errorf("%d requests, slept %v", e.count(), e.sleeps)
			}
			for n, sent := range []bool{true, false, false, test.sentThen} {
				if (e.got(t, n)["response_format"] != nil) != sent {
					t.Errorf("request %d: %v", n, e.got(t, n))
				}
			}
			r := withSchema(`{}`)
			r.Model = "another"
			if _, err := c.Call(t.Context(), r); err != nil || e.got(t, 4)["response_format"] == nil {
				t.Errorf("another model is asked without: %v", err)
			}
		})
	}
}

// The format stays after an error with another cause.
func TestFormatIsNotToBlame(t *testing.T) {
	e := newEndpoint(t, body(400, `{"error":{"message":"json_schema and all: your context is too long"}}`))
	_, err := e.client(t).Call(t.Context(), withSchema(`{}`))
	var f *model.Failure
	if !errors.As(err, &f) || f.Class != model.Rejected || e.count() != 2 {
		t.Fatalf("got %v after %d", err, e.count())
	}
	e2 := newEndpoint(t, body(400, `{"error":{"message":"json_schema?"}}`), body(400, `{"error":{"message":"no"}}`), reply("{}"))
	c := e2.client(t)
	_, _ = c.Call(t.Context(), withSchema(`{}`))
	if _, err := c.Call(t.Context(), withSchema(`{}`)); err != nil || e2.got(t, 2)["response_format"] == nil {
		t.Errorf("asked without: %v", err)
	}
}
