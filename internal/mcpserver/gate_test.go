package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/mcpserver"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

type strict struct {
	Most int    `json:"most"`
	Root string `json:"root,omitempty"`
}

// rooted is a gate that reports its root.
var rooted = validators.New("rooted", "tell the root", func(_ context.Context, p strict, _ validators.Subject) (validators.Verdict, error) {
	return validators.Pass("root %s, most %d", p.Root, p.Most), nil
}, validators.Impure)

var broken = validators.New("broken", "break", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
	return validators.Verdict{}, errors.New("the scale is broken")
})

var panics = validators.New("panics", "panic", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) { panic("oh") })

// TestGate checks that verdicts are results, and a missing verdict is an error.
func TestGate(t *testing.T) {
	s := connect(t, options(broken, panics))
	for _, c := range []struct {
		tool, arguments, want string
		isError               bool
	}{
		{"word_count", `{"content": "one two three", "with": {"min": 3}}`, `{"valid":true,"reason":"the text has 3 words"}`, false},
		{"word_count", `{"content": "one", "with": {"min": 3}}`, `{"valid":false,"reason":"the text has 1 word, fewer than 3"`, false},
		{"non_empty", `{"content": "", "with": null}`, `{"valid":false`, false},
		{"json_schema", `{"content": "{\"a\": 1}", "with": {"schema": {"required": ["b"]}}}`, `{"valid":false`, false},
		{"broken", `{"content": ""}`, "the scale is broken", true},
		{"panics", `{"content": ""}`, "panic: oh", true},
		{"word_count", `{"content": "one", "with": {"mni": 3}}`, "'mni'", true},
		{"word_count", `{"content": "one", "wiht": {}}`, "'wiht'", true},
		{"word_count", `{"content": "one", "with": {"min": "3"}}`, "$.with.min: must be an integer, is a string", true},
		{"word_count", `{"with": {"min": 3}}`, "'content'", true},
		{"word_count", `{"content": null}`, "$.content: must be a string, is null", true},
		{"word_count", `{"content": {"a": 1}}`, "$.content: must be a string, is an object", true},
		{"word_count", `[1]`, "want an object", true},
		{"contains", `{"content": "x"}`, "missing property 'with'", true},
		{"grammar_check", `{"content": "x"}`, "no verdict", true},
		{"grammar_check", `{"content": "x", "with": {"a": 1}}`, "additional properties 'a'", true},
	} {
		text, object, isError := use(t, s, c.tool, json.RawMessage(c.arguments))
		if isError != c.isError || !strings.Contains(text, c.want) || isError != (object == nil) {
			t.Errorf("%s %s: error %v, %s, %v", c.tool, c.arguments, isError, text, object)
		}
		if again, _ := json.Marshal(object); !isError && !same(string(again), text) {
			t.Errorf("%s: the text is %s, the object %s", c.tool, text, again)
		}
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "tone"}); err == nil || !strings.Contains(err.Error(), `unknown tool "tone"`) {
		t.Errorf("got %v", err)
	}
}

func same(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// TestJudge checks a judge with the model of the options.
func TestJudge(t *testing.T) {
	r, err := runner.New(runner.WithModelName("owl"), runner.WithModel(model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: fmt.Sprintf(`{"valid": false, "reason": "%s: too grim"}`, r.Model)}, nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Judge = r
	if text, object, isError := use(t, connect(t, o), "style_check", map[string]any{"content": "Doom."}); isError || object["valid"] != false || object["reason"] != "owl: too grim" {
		t.Errorf("got %s", text)
	}
}

// TestFixed checks that clients neither see nor set the operator's parameters.
func TestFixed(t *testing.T) {
	o := options()
	o.Gates = []mcpserver.Gate{{Validator: rooted, Fixed: map[string]any{"most": 7, "root": "/operator"}}}
	saved := tool.Declared("save", "save it", map[string]any{
		"type": "object", "properties": map[string]any{"db": map[string]any{"type": "string"}, "key": map[string]any{"type": "string"}, "what": map[string]any{}},
		"required": []any{"db", "what"}, "anyOf": []any{map[string]any{"required": []any{"what"}}, map[string]any{"required": []any{"key"}}},
	}, func(_ context.Context, c tool.Call) (any, error) {
		if c.Arguments["what"] == "fail" {
			return nil, errors.New("the disk is full")
		}
		return fmt.Sprint(c.ID != "", c.Arguments), nil
	})
	o.Tools = []mcpserver.Tool{{Tool: saved, Fixed: map[string]any{"db": "week.db"}, Hidden: []string{"key"}}}
	s := connect(t, o)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, tool := range list.Tools {
		schema, _ := json.Marshal(tool.InputSchema)
		hints, _ := json.Marshal(tool.Annotations)
		shown[tool.Name] = string(schema) + string(hints)
	}
	if got, want := shown["save"], `{"properties":{"what":{}},"required":["what"],"type":"object"}{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false}`; got != want {
		t.Errorf("got %s", got)
	}
	if got, want := shown["rooted"], `{"additionalProperties":false,"properties":{"content":{"description":"the text to judge","type":"string"},"with":{"additionalProperties":false,"properties":{},"type":"object"}},"required":["content"],"type":"object"}`+
		`{"destructiveHint":false,"idempotentHint":true,"openWorldHint":true,"readOnlyHint":true}`; got != want {
		t.Errorf("got %s", got)
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"rooted", `{"content": ""}`, "root /operator, most 7"},
		{"rooted", `{"content": "", "with": {"most": 8}}`, "'most' not allowed"},
		{"save", `{"what": 1}`, "true map[db:week.db what:1]"},
		{"save", `{"what": "fail"}`, "error: the disk is full"},
	} {
		text, _, isError := use(t, s, c.tool, json.RawMessage(c.arguments))
		if !strings.Contains(text, c.want) || isError != strings.Contains(c.want, "error:") && !strings.Contains(c.want, "not allowed") {
			t.Errorf("%s %s: %v %s", c.tool, c.arguments, isError, text)
		}
	}
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "save", Arguments: map[string]any{"what": 1}})
	if err != nil || r.StructuredContent != nil {
		t.Errorf("structured content has to be an object: %v %v", err, r)
	}
}

// TestGateRoot checks that folders of a call are relative to the root.
func TestGateRoot(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"in/work/a": "", "out/a": ""})
	o := options()
	o.Root = dir + "/in"
	o.Gates = []mcpserver.Gate{{Validator: rooted, Writes: true, Own: func(v validators.Verdict) []byte { return []byte("own: " + v.Reason) }}}
	s := connect(t, o)
	for root, want := range map[string]string{
		`"work"`: "own: root " + dir + "/in/work,", fmt.Sprintf("%q", dir+"/in/work"): "own: root " + dir + "/in/work,", `null`: "$.with.root: must be a string, is null",
		`"../out"`: "is outside", `"/"`: "is outside", `"work/a"`: "not a directory", `"no"`: "no such file",
	} {
		if text, _, _ := use(t, s, "rooted", json.RawMessage(`{"content": "", "with": {"most": 1, "root": `+root+`}}`)); !strings.Contains(text, want) {
			t.Errorf("%s: %s", root, text)
		}
	}
	if text, object, _ := use(t, s, "rooted", json.RawMessage(`{"content": "", "with": {"most": 1}}`)); text != "own: root "+dir+"/in, most 1" || object["valid"] != true {
		t.Errorf("got %s, %v", text, object)
	}
}

// TestOffers checks the selection of offers, and the operator's mistakes.
func TestOffers(t *testing.T) {
	o, _ := runs(t, "", map[string]string{"post": "{cascade_id: a, phases: [{name: a, instructions: a}]}"})
	o.Validate = func(context.Context, []byte) (any, error) { return nil, nil }
	o.Only = []string{"post", "word_count", "lint"}
	names := func(s *sdk.ClientSession) (names []string) {
		for tool, err := range s.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		return names
	}
	if got := names(connect(t, o)); !slices.Equal(got, []string{"lint", "post", "word_count"}) {
		t.Errorf("got %v", got)
	}
	o.Only = nil
	if got := names(connect(t, o)); !slices.Contains(got, "run") || !slices.Contains(got, "validate_request") || len(got) != len(o.Gates)+4 {
		t.Errorf("got %v", got)
	}
	for want, change := range map[string]func(o *mcpserver.Options){
		`"psot" is unknown; known are `:               func(o *mcpserver.Options) { o.Only = []string{"psot"} },
		"are both called lint: give one another name": func(o *mcpserver.Options) { o.Cascades["lint"] = o.Cascades["post"] },
		"are both called json:":                       func(o *mcpserver.Options) { o.Cascades["json"] = o.Cascades["post"]; o.Only = []string{"lint"} },
		`"my post" is no valid tool name`:             func(o *mcpserver.Options) { o.Cascades["my post"] = o.Cascades["post"] },
		"word_count: min must be an integer, is a string": func(o *mcpserver.Options) {
			o.Gates = []mcpserver.Gate{{Validator: find("word_count"), Fixed: map[string]any{"min": "x"}}}
		},
		`json has no parameter "db"`: func(o *mcpserver.Options) {
			o.Gates = []mcpserver.Gate{{Validator: find("json"), Fixed: map[string]any{"db": "x"}}}
		},
	} {
		changed := o
		changed.Cascades = maps.Clone(o.Cascades)
		change(&changed)
		if _, err := mcpserver.New(changed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func find(name string) validators.Validator {
	v, err := builtins.Default().Find(name)
	if err != nil {
		panic(err)
	}
	return v
}
