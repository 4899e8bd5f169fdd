package anthropic_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/anthropic"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

const own = "anthropic"

// encoded returns the body of a query to an endpoint that takes all members.
func encoded(q protocol.Query) (string, error) {
	if q.Without == nil {
		q.Without = func(string) bool { return false }
	}
	text, err := anthropic.New(model.Provider{Name: own}).Encode(q)
	return string(text), err
}

func encode(t *testing.T, q protocol.Query) string {
	t.Helper()
	text, err := encoded(q)
	if err != nil || !json.Valid([]byte(text)) {
		t.Fatalf("%s, %v", text, err)
	}
	return text
}

func user(text string) model.Message { return model.Message{Role: model.User, Content: text} }

func request(messages ...model.Message) model.Request {
	return model.Request{Model: "claude-opus-5-5", Messages: messages}
}

// Each case has the members after the model and max_tokens.
func TestEncodeMessages(t *testing.T) {
	call := model.ToolCall{ID: "toolu_1", Name: "now", Arguments: `{"zone": "UTC"}`}
	broken := model.ToolCall{ID: "functions.now:0", Name: "now", Arguments: `{"zone"`}
	thought := model.Extra(`{"thinking":[{"type":"thinking","thinking":"Hm.","signature":"s=="},{"type":"tool_use","id":"toolu_1","name":"now","input":{}}]}`)
	result := model.Message{Role: model.ToolReply, Content: "noon", ToolCallID: "toolu_1"}
	for name, test := range map[string]struct {
		messages []model.Message
		want     string
	}{
		"a text": {[]model.Message{user("<Hi> & \u2028")}, `"messages":[{"role":"user","content":[{"type":"text","text":"<Hi> & \u2028"}]}]`},
		"a system prompt": {
			[]model.Message{{Role: model.System, Content: "Be brief."}, {Role: model.System, Content: "Be kind."}, user("Hi")},
			`"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]`,
		},
		"only a system prompt": {
			[]model.Message{{Role: model.System, Content: "Be brief."}}, `"messages":[{"role":"user","content":[{"type":"text","text":"Be brief."}]}]`,
		},
		"a system message between others": {
			[]model.Message{user("Hi"), {Role: model.System, Content: "Be brief."}},
			`"messages":[{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"text","text":"Be brief."}]}]`,
		},
		"messages of one role": {
			[]model.Message{user("1"), user(" \n"), {Role: model.Assistant, Content: "2"}, {Role: model.Assistant}, user("3"), user("4")},
			`"messages":[{"role":"user","content":[{"type":"text","text":"1"}]},{"role":"assistant","content":[{"type":"text","text":"2"}]},` +
				`{"role":"user","content":[{"type":"text","text":"3"},{"type":"text","text":"4"}]}]`,
		},
		"calls and results": {
			[]model.Message{
				user("Go."), {Role: model.Assistant, Content: "I look.", ToolCalls: []model.ToolCall{call, {ID: "b", Name: "now"}}, Provider: own},
				result, {Role: model.ToolReply, ToolCallID: "b"}, user("And?"),
			},
			`"messages":[{"role":"user","content":[{"type":"text","text":"Go."}]},{"role":"assistant","content":[{"type":"text","text":"I look."},` +
				`{"id":"toolu_1","input":{"zone":"UTC"},"name":"now","type":"tool_use"},{"id":"b","input":{},"name":"now","type":"tool_use"}]},` +
				`{"role":"user","content":[{"content":"noon","tool_use_id":"toolu_1","type":"tool_result"},` +
				`{"content":"","tool_use_id":"b","type":"tool_result"},{"type":"text","text":"And?"}]}]`,
		},
		"a call of another provider with broken arguments": {
			[]model.Message{
				user("Go."), {Role: model.Assistant, ToolCalls: []model.ToolCall{broken}, Provider: "openrouter", Extra: `{"thinking":[{"type":"thinking"}]}`},
				{Role: model.ToolReply, Content: "noon", ToolCallID: broken.ID},
			},
			`"messages":[{"role":"user","content":[{"type":"text","text":"Go."}]},{"role":"assistant","content":[` +
				`{"id":"call_46735f3562ed61a2cf3fac45","input":{"invalid_arguments":"{\"zone\""},"name":"now","type":"tool_use"}]},` +
				`{"role":"user","content":[{"content":"noon","tool_use_id":"call_46735f3562ed61a2cf3fac45","type":"tool_result"}]}]`,
		},
		"thinking": {
			[]model.Message{user("Go."), {Role: model.Assistant, Content: "", ToolCalls: []model.ToolCall{call}, Provider: own, Extra: thought}, result},
			`"messages":[{"role":"user","content":[{"type":"text","text":"Go."}]},{"role":"assistant",` + strings.Replace(string(thought[1:len(thought)-1]), "thinking", "content", 1) + `},` +
				`{"role":"user","content":[{"content":"noon","tool_use_id":"toolu_1","type":"tool_result"}]}]`,
		},
	} {
		if got, want := encode(t, protocol.Query{Request: request(test.messages...)}), `{"model":"claude-opus-5-5","max_tokens":32000,`+test.want+`}`; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// An endpoint that refuses the blocks of earlier answers gets their texts and calls.
func TestEncodeWithoutExtras(t *testing.T) {
	m := model.Message{Role: model.Assistant, Content: "Yes.", Provider: own, Extra: `{"thinking":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Yes."}]}`}
	got := encode(t, protocol.Query{Request: request(user("Hi"), m, user("So?")), Without: func(member string) bool { return member == protocol.Extras }})
	if strings.Contains(got, "thinking") || !strings.Contains(got, `{"role":"assistant","content":[{"type":"text","text":"Yes."}]}`) {
		t.Errorf("got %s", got)
	}
}

func TestEncodeCacheMarks(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	ends := func(texts ...string) (list []model.Message) {
		for i, text := range texts {
			m := user(strings.TrimSuffix(text, "!"))
			m.CacheEnd = strings.HasSuffix(text, "!")
			if i == 0 {
				m.Role = model.System
			}
			list = append(list, m)
		}
		return list
	}
	for name, test := range map[string]struct {
		messages []model.Message
		want     string // the texts, those with a mark with !
	}{
		"none":                 {ends("system", "a", "b"), "system a b"},
		"system and last turn": {ends("system!", "a", "b!"), "system! a b!"},
		"four":                 {ends("system!", "a!", "b!", "c", "d!"), "system! a! b! c d!"},
		"six":                  {ends("system!", "a!", "b!", "c!", "d!", "e!", "f"), "system! a! b! c d e! f"},
		"a message of nothing": {ends("system", "a!", " !", "b!"), "system a! b!"},
	} {
		got := encode(t, protocol.Query{Request: request(test.messages...)})
		var body struct {
			System   []map[string]any
			Messages []struct{ Content []map[string]any }
		}
		if err := json.Unmarshal([]byte(got), &body); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range append([]struct{ Content []map[string]any }{{body.System}}, body.Messages...) {
			for _, b := range m.Content {
				text := b["text"].(string)
				if b["cache_control"] != nil {
					text += "!"
				}
				texts = append(texts, text)
			}
		}
		if is := strings.Join(texts, " "); is != test.want || strings.Count(got, mark) != strings.Count(test.want, "!") {
			t.Errorf("%s: got %s, want %s", name, is, test.want)
		}
	}
}

// Thinking cannot have a mark, so the block before it has the mark.
func TestEncodeCacheMarkBesideThinking(t *testing.T) {
	m := model.Message{Role: model.Assistant, Provider: own, CacheEnd: true,
		Extra: `{"thinking":[{"type":"text","text":"Yes."},{"type":"thinking","thinking":"Hm."},{"type":"redacted_thinking","data":"x"}]}`}
	if got, want := encode(t, protocol.Query{Request: request(user("Hi"), m)}), `{"type":"text","text":"Yes.","cache_control":{"type":"ephemeral"}},{"type":"thinking"`; !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestEncodeParams(t *testing.T) {
	zero, half := 0.0, 0.5
	schema := json.RawMessage(`{"type":"object","properties":{"b":{"type":"string","maxLength":3},"a":{"type":"integer"}},"required":["b","a"]}`)
	narrowed := `{"type":"object","properties":{"b":{"type":"string","description":"{maxLength: 3}"},"a":{"type":"integer"}},"required":["b","a"],"additionalProperties":false}`
	tools := []model.Tool{{Name: "now", Description: "The time.", Parameters: map[string]any{"type": "object"}}, {Name: "roll"}}
	for name, test := range map[string]struct {
		model  string
		params *model.Params
		query  protocol.Query
		want   string // before the messages
	}{
		"none":      {"m", nil, protocol.Query{}, `"max_tokens":32000`},
		"all":       {"m", &model.Params{Temperature: &zero, TopP: &half, MaxOutputTokens: 7, Stop: []string{"END"}}, protocol.Query{Stream: true}, `"max_tokens":7,"temperature":0,"top_p":0.5,"stop_sequences":["END"],"stream":true`},
		"tools":     {"m", nil, protocol.Query{Request: model.Request{Tools: tools}}, `"max_tokens":32000,"tools":[{"name":"now","description":"The time.","input_schema":{"type":"object"}},{"name":"roll","input_schema":{"type":"object"}}]`},
		"a schema":  {"m", nil, protocol.Query{Request: model.Request{Schema: schema}, Form: protocol.AsSchema}, `"max_tokens":32000,"output_config":{"format":{"type":"json_schema","schema":` + narrowed + `}}`},
		"in prompt": {"m", nil, protocol.Query{Request: model.Request{Schema: schema}, Form: protocol.AsPrompt}, `"max_tokens":32000`},
		"adaptive":  {"claude-sonnet-5-5", &model.Params{Effort: "max"}, protocol.Query{}, `"max_tokens":32000,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"max"}`},
		"budget":    {"claude-haiku-4-5", &model.Params{Effort: "low"}, protocol.Query{}, `"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":6400}`},
		"least":     {"claude-haiku-4-5", &model.Params{Effort: "low", MaxOutputTokens: 2000}, protocol.Query{}, `"max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024}`},
		"extra":     {"m", &model.Params{MaxOutputTokens: 7, TopP: &half, Extra: `{"max_tokens":9,"metadata":{"user_id":"u"}}`}, protocol.Query{}, `"top_p":0.5,"max_tokens":9,"metadata":{"user_id":"u"}`},
		"extra output": {"m", &model.Params{Effort: "high", Extra: `{"output_config":{"effort":"max"}}`},
			protocol.Query{Request: model.Request{Schema: []byte(`{"const":1}`)}, Form: protocol.AsSchema},
			`"thinking":{"type":"adaptive","display":"summarized"},"max_tokens":32000,"output_config":{"effort":"max","format":{"type":"json_schema","schema":{"const":1}}}`},
	} {
		test.query.Request.Model, test.query.Request.Params, test.query.Request.Messages = test.model, test.params, []model.Message{user("Hi")}
		got, _, _ := strings.Cut(encode(t, test.query), `,"messages":`)
		want := `{"model":"` + test.model + `",` + test.want
		if test.params != nil && test.params.Extra != "" { // in the order of their names
			got, want = members(t, got), members(t, want)
		}
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// members returns the members of an object without its end, in the order of
// their names.
func members(t *testing.T, object string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(object+"}"), &v); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func TestEncodeErrors(t *testing.T) {
	for want, p := range map[string]model.Params{
		"extra: output_config: json":              {Extra: `{"output_config":1}`},
		"extra: system cannot be set there":       {Extra: `{"system":"x"}`},
		"takes minimal, low, medium, high, xhigh": {Effort: "max"},
		"set max_output_tokens above 1024":        {Effort: "low", MaxOutputTokens: 1024},
	} {
		r, form := request(user("Hi")), ""
		if r.Model, r.Params = "claude-haiku-4-5-20251001", &p; p.Effort == "" {
			r.Schema, form = []byte("{}"), protocol.AsSchema
		}
		if _, err := encoded(protocol.Query{Request: r, Form: form}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The schema of structured outputs is a subset of JSON Schema.
func TestEncodeSchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: `{"type":"object","additionalProperties":false}`,
		`{"type":"object","additionalProperties":{"type":"string","minLength":2}}`:                    `{"type":"object","additionalProperties":{"type":"string","description":"{minLength: 2}"}}`,
		`{"properties":{"z":{},"a":true},"additionalProperties":true}`:                                `{"properties":{"z":{},"a":true},"additionalProperties":false}`,
		`{"$ref":"#/$defs/a","description":"x","$defs":{"a":{}}}`:                                     `{"$ref":"#/$defs/a"}`,
		`{"$schema":"x","$defs":{"a":{"type":"array","minItems":2,"items":{"const":1,"minimum":0}}}}`: `{"$defs":{"a":{"type":"array","items":{"const":1,"description":"{minimum: 0}"},"description":"{minItems: 2}"}}}`,
		`{"oneOf":[{"type":"null"},{"type":"string","format":"date","description":"A day."}]}`:        `{"anyOf":[{"type":"null"},{"type":"string","format":"date","description":"A day."}]}`,
		`{"type":"string","format":"iri","description":"An address."}`:                                `{"type":"string","description":"An address.\n\n{format: \"iri\"}"}`,
		`{"type":"array","minItems":1}`:                                                               `{"type":"array","minItems":1}`,
	} {
		r := request(user("Hi"))
		r.Schema = json.RawMessage(schema)
		if got := encode(t, protocol.Query{Request: r, Form: protocol.AsSchema}); !strings.Contains(got, `"schema":`+want+`}}`) {
			t.Errorf("%s: got\n%s\nwant\n%s", schema, got, want)
		}
	}
}

// Each row of the table matches its line and does not match the other.
func TestThinkingTable(t *testing.T) {
	table, err := os.ReadFile("tables/thinking.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		for i, matches := range map[int]bool{4: true, 5: false} {
			r := request(user("Hi"))
			r.Model, r.Params = cells[i], &model.Params{Effort: "low"}
			if cells[0] == "share" {
				r.Model, r.Params.Effort = "claude-haiku-4-5", cells[i]
			}
			text, err := encoded(protocol.Query{Request: r})
			if is := err == nil && strings.Contains(text, `"budget_tokens"`); is != matches {
				t.Errorf("%s: %s has a budget: %t", row, cells[i], is)
			}
		}
		if len(cells) != 6 || !strings.HasPrefix(cells[3], "https://") {
			t.Errorf("%s: want 6 cells and the address of a source", row)
		}
	}
}
