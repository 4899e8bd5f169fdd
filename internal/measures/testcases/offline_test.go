package testcases_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A world contains everything that a cascade may call. It reports every call.
type world struct {
	t      *testing.T
	closed bool
}

func (w *world) reached(what string) {
	if w.closed {
		w.t.Errorf("the test reached %s", what)
	}
}

func (w *world) Validator(_ cascades.Server, name string) validators.Validator {
	return validators.New("mcp", "what the server says", func(context.Context, map[string]any, validators.Subject) (validators.Verdict, error) {
		w.reached("a server's validator")
		return validators.Pass("fine"), nil
	}, validators.Impure)
}

func (w *world) Tool(_ cascades.Server, name string) tool.Tool {
	ask := func(context.Context) (string, map[string]any, error) {
		w.reached("a server for a description")
		return "Search the web.", map[string]any{"type": "object", "properties": map[string]any{"query": map[string]any{"type": "string"}}}, nil
	}
	return tool.Remote(name, ask, func(context.Context, tool.Call) (any, error) {
		w.reached("a server's tool")
		return []any{"a page", 1.0, nil}, nil
	})
}

const reaching = `cascade_id: reaching
validators:
  program: {exec: [sh, -c, 'cat >/dev/null; test ! -e closed && echo "{\"valid\": true}"']}
  server: {mcp: {command: [server], tool: check}}
tools:
  search: {mcp: {command: [server], tool: web_search}}
phases:
  - name: draft
    instructions: Write
    tackle: [search, reached, known_remote]
    rules: {loop_until: server}
    wards: {post: [{validator: program}, {validator: probe}]}
  - {name: after, tool: reached}
`

// TestOffline runs a test case whose cascade uses everything. Nothing is called, and the
// descriptions of tools on servers are known.
func TestOffline(t *testing.T) {
	w := &world{t: t}
	s := newStory(t, reaching)
	asked := 0
	s.model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		w.reached("the model")
		if asked++; asked > 1 {
			return model.Response{Text: "a text"}, nil
		}
		return model.Response{ToolCalls: []model.ToolCall{{ID: "1", Name: "search", Arguments: `{"query": "owls"}`}, {ID: "2", Name: "known_remote", Arguments: "{}"}}}, nil
	})
	s.known.Remote = w
	s.known.Tools = s.known.Tools.With(
		tool.New("reached", "Tells that it is reached.", func(context.Context, struct{}) (any, error) {
			w.reached("a tool")
			return "done", nil
		}), w.Tool(cascades.Server{}, "known_remote"))
	s.known.Validators = s.known.Validators.With(validators.New("probe", "tells that it is reached", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
		w.reached("a validator")
		return validators.Pass("fine"), nil
	}, validators.Impure))

	run := s.record(t)
	w.closed = true
	c, err := testcases.Record(t.Context(), run, testcases.Options{Dir: t.TempDir(), Known: s.known})
	if err != nil {
		t.Fatal(err)
	}
	if o := c.Run(t.Context(), s.known); !o.OK() {
		t.Fatal(text(o))
	}
	if shared := tree(t, c.Dir)["shared.yaml"]; !strings.Contains(shared, "Search the web.") {
		t.Error(shared)
	}
	edit(t, c.Dir, "cascade/cascade.yaml", "tool: web_search}", "tool: web_search}, description: Look it up")
	if _, o := s.test(t, c.Dir); o.OK() || !strings.Contains(text(o), "+Look it up") {
		t.Error(text(o))
	}
}
