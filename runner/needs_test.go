package runner_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// servers is a set of MCP servers by URL. Some of them are not reachable.
type servers struct {
	mu   sync.Mutex
	away map[string]bool
}

func (s *servers) set(url string, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away[url] = away
}

func (s *servers) reach(url, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away[url] {
		return tool.Unavailable(fmt.Errorf("mcp server %s has no %s", url, name))
	}
	return nil
}

func (s *servers) Validator(server cascades.Server, name string) validators.Validator {
	return validators.New("mcp", "", func(context.Context, map[string]any, validators.Subject) (validators.Verdict, error) {
		return validators.Pass("fine"), s.reach(server.URL, name)
	}, validators.Impure)
}

func (s *servers) Tool(server cascades.Server, name string) tool.Tool {
	ask := func(context.Context) (string, map[string]any, error) {
		return "search", map[string]any{"type": "object"}, s.reach(server.URL, name)
	}
	return tool.Remote(name, ask, func(context.Context, tool.Call) (any, error) { return "found", s.reach(server.URL, name) })
}

// searching returns a model that calls the tool search if the request has it,
// and then answers with the result. It counts its calls.
func searching(calls *int) model.Model {
	return model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		*calls++
		last := r.Messages[len(r.Messages)-1]
		resp := model.Response{Text: "text", Usage: model.Usage{Calls: 1}}
		for _, t := range r.Tools {
			if t.Name == "search" && last.Role == model.User {
				resp.ToolCalls = []model.ToolCall{{ID: "1", Name: t.Name, Arguments: "{}"}}
			}
		}
		return resp, nil
	})
}

const twoPhases = `
cascade_id: c
validators:
  checked: {mcp: {url: "http://b", tool: check}}
  program: {exec: [echo], env: [NO_SUCH_KEY, {A: "{{ env.NOR_THIS }}"}]}
tools:
  search: {mcp: {url: "http://a", tool: search}}
phases:
  - {name: first, instructions: a}
  - {name: second, instructions: a, RULES}
`

// A run checks everything that the cascade needs before the first call. It
// checks the rest when a phase needs it.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		rules, code string
		calls       int
		want        []string
	}{
		{"tackle: [search], wards: {post: [{validator: checked}]}", engine.Failed, 0, []string{
			"c.yaml:7:12: phase second: tool search: mcp server http://a has no search", "c.yaml:4:13: phase second: validator checked: mcp server http://b has no check"}},
		{"rules: {loop_until: checked}", engine.Failed, 0, []string{"validator checked"}},
		{"soundings: {factor: 2, validator: checked}", engine.Failed, 0, []string{"validator checked"}},
		{"tackle: [search], when: 'true'", engine.Failed, 1, []string{"phase second: failed: tool search: mcp server http://a has no search"}},
		{"tackle: [search], rules: {on_error: third}", "", 2, nil},
		{"wards: {post: [{validator: checked, mode: advisory}]}", "", 3, nil},
		{"wards: {pre: [{validator: program}]}", engine.Invalid, 0, []string{
			"c.yaml:5:27: phase second: validator program: the environment has no NO_SUCH_KEY", "the environment has no NOR_THIS"}},
		{"wards: {pre: [{validator: program}]}, when: 'false'", "", 2, nil},
	} {
		calls := 0
		s := &servers{away: map[string]bool{"http://a": true, "http://b": true}}
		r := newRunner(t, runner.WithModel(searching(&calls)), runner.WithRemote(s))
		source := strings.ReplaceAll(twoPhases, "RULES", c.rules) + "  - {name: third, instructions: a}\n"
		loaded, err := r.Parse("c.yaml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Run(t.Context(), loaded, nil)
		if c.code == "" && err != nil || c.code != "" && code(err) != c.code || calls != c.calls {
			t.Errorf("%s: %d calls, %v", c.rules, calls, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", c.rules, err, want)
			}
		}
	}
}

// A run that could not begin, or that lost a server later, resumes when the
// server is back. Completed work is not repeated.
func TestNeedsAndResume(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	calls := 0
	s := &servers{away: map[string]bool{"http://a": true}}
	var kinds []string
	r := newRunner(t, runner.WithModel(searching(&calls)), runner.WithRemote(s), runner.WithJournal(j),
		runner.WithSink(event.Func(func(e event.Event) {
			kinds = append(kinds, string(e.Kind))
			if e.Kind == event.ModelReplied && e.Phase == "second" && calls == 2 {
				s.set("http://a", true)
			}
		})))
	c := parsed(t, r, strings.ReplaceAll(twoPhases, "RULES", "tackle: [search]"))
	if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("x")); code(err) != engine.Failed || fmt.Sprint(kinds) != "[run_started run_finished]" {
		t.Fatalf("%v: %v", kinds, err)
	}
	s.set("http://a", false)
	if _, err := r.Resume(t.Context(), "x"); code(err) != engine.Failed || calls != 2 || !strings.Contains(err.Error(), "tool search: error: mcp server http://a has no search") {
		t.Fatalf("%d calls: %v", calls, err)
	}
	s.set("http://a", false)
	if res, err := r.Resume(t.Context(), "x"); err != nil || calls != 3 || res.Output != "text" {
		t.Fatalf("%d calls: %v", calls, err)
	}
	refused := parsed(t, r, "inputs_schema: {topic: What about}\n"+strings.ReplaceAll(strings.ReplaceAll(twoPhases, "RULES", "wards: {pre: [{validator: program}]}"), "instructions: a", "instructions: '{{ input.topic }}'"))
	_, err = r.Run(t.Context(), refused, map[string]any{"topik": 1}, runner.WithRunID("z"))
	var wrong cascades.InputErrors
	if !errors.As(err, &wrong) || len(wrong) != 2 || code(err) != engine.Invalid || !strings.Contains(err.Error(), "NO_SUCH_KEY") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Resume(t.Context(), "z"); !errors.Is(err, runner.ErrNoRun) {
		t.Errorf("it is kept: %v", err)
	}
	unset := parsed(t, r, strings.ReplaceAll(twoPhases, "RULES", "wards: {pre: [{validator: program}]}"))
	if _, err := r.Run(t.Context(), unset, nil, runner.WithRunID("y")); code(err) != engine.Invalid {
		t.Errorf("got %v", err)
	}
	if _, err := r.Resume(t.Context(), "y"); !errors.Is(err, runner.ErrNoRun) {
		t.Errorf("it is kept: %v", err)
	}
}

// A cancelled run does not wait for a server.
func TestNeedsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	asks := func(context.Context) (string, map[string]any, error) {
		cancel(errors.New("enough"))
		<-ctx.Done()
		return "", nil, context.Cause(ctx)
	}
	r := newRunner(t, runner.WithModel(model.Func(nil)), runner.WithTools(tool.Remote("search", asks, nil)))
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, tackle: [search]}]")
	if _, err := r.Run(ctx, c, nil); code(err) != engine.Cancelled || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v", err)
	}
}
