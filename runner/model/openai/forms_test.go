package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// forms lists how each request asked for its schema: by response_format, and in which
// message.
func (e *endpoint) formsAsked(t *testing.T, schema string) (list []string) {
	t.Helper()
	for n := range e.count() {
		var sent struct {
			Format   struct{ Type string } `json:"response_format"`
			Messages []model.Message
		}
		if err := json.Unmarshal([]byte(e.bodies[n]), &sent); err != nil {
			t.Fatal(err)
		}
		form := sent.Format.Type
		for i, m := range sent.Messages {
			if k := strings.Count(m.Content, schema); k > 0 {
				form += fmt.Sprintf("+%d in %d", k, i)
			}
		}
		list = append(list, form)
	}
	return list
}

// TestSchemaReachesTheModel calls endpoints with less and less support for
// response_format. Each request contains the schema, and the second call begins
// with the last form of the first call.
func TestSchemaReachesTheModel(t *testing.T) {
	const object, list = `{"type":"object","required":["label"]}`, `{"type":"array","items":{"enum":["joy"]}}`
	unavailable := body(400, `{"error":{"message":"This response_format type is unavailable now"}}`)
	vague := body(400, `{"error":{"message":"Bad request."}}`)
	none := `+1 in 0`
	for name, test := range map[string]struct {
		provider, schema string
		handler          http.HandlerFunc
		want             []string // of two calls
		without          string
	}{
		"takes all":                {"openai", object, strict(vague), []string{"json_schema+0", "json_schema+0"}, ""},
		"takes json_object":        {"openai", object, strict(unavailable, `"json_schema"`), []string{"json_schema", "json_object" + none, "json_object" + none}, "json_schema"},
		"takes neither":            {"openai", object, strict(unavailable, formatWord), []string{"json_schema", "json_object" + none, none, none}, "response_format"},
		"refuses in vague words":   {"openai", object, strict(vague, formatWord), []string{"json_schema", none, none}, "response_format"},
		"a list is no json_object": {"openai", list, strict(unavailable, `"json_schema"`), []string{"json_schema", none, none}, "response_format"},
		"declared for DeepSeek":    {"deepseek", object, strict(vague), []string{"json_object" + none, "json_object" + none}, "json_schema"},
		"DeepSeek, vague":          {"deepseek", object, strict(vague, formatWord), []string{"json_object" + none, none, none}, "response_format"},
	} {
		for _, streamed := range []bool{false, true} {
			e := newEndpoint(t, test.handler)
			c := opened(t, e, test.provider, streamed)
			r := withSchema(test.schema)
			r.Messages = []model.Message{{Role: model.System, Content: "Be short."}, {Role: model.User, Content: "Go."}}
			for range 2 {
				resp, err := c.Call(t.Context(), r)
				if err != nil || strings.Join(resp.Without, " ") != test.without {
					t.Errorf("%s: got %+v, %v", name, resp, err)
				}
			}
			want := strings.Split(strings.ReplaceAll(strings.Join(test.want, "|"), "+0", ""), "|")
			if got := e.formsAsked(t, test.schema); !slices.Equal(got, want) {
				t.Errorf("%s: asked %q, want %q", name, got, want)
			}
		}
	}
}

// TestSchemaSwitchedOff checks that the schema is added to the prompt once. A
// message with the schema, or the cascade's own response_format with a schema,
// makes this unnecessary.
func TestSchemaSwitchedOff(t *testing.T) {
	const schema = `{"type":"object","required":["label"]}`
	for name, test := range map[string]struct {
		params model.Params
		text   string
		want   string
	}{
		"off":                     {model.Params{NoFormat: true}, "Go.", "+1 in 0"},
		"the author has it":       {model.Params{NoFormat: true}, "Follow " + schema + ".", "+1 in 0"},
		"its own json_object":     {model.Params{Extra: `{"response_format":{"type":"json_object"}}`}, "Go.", "json_object+1 in 0"},
		"its own response format": {model.Params{Extra: `{"response_format":{"type":"json_schema","json_schema":{"name":"a"}}}`}, "Go.", "json_schema"},
	} {
		e := newEndpoint(t, reply("{}"))
		r := withSchema(schema)
		r.Params, r.Messages = &test.params, []model.Message{{Role: model.User, Content: test.text}}
		thread := model.NewThread(r.Messages...)
		r.Thread, r.Messages = thread, thread.Messages()
		if _, err := e.client(t).Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := e.formsAsked(t, schema); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: asked %q", name, got)
		}
		if thread.Messages()[0].Content != test.text {
			t.Errorf("%s: the conversation has %q", name, thread.Messages()[0].Content)
		}
	}
}
