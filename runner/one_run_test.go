package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// streaming is a model that answers with its last message, in pieces.
var streaming = model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
	reply := req.Messages[len(req.Messages)-1].Content
	for piece := range strings.FieldsSeq(reply) {
		if req.OnText != nil {
			req.OnText(piece + " ")
		}
	}
	return model.Response{Text: reply, Usage: model.Usage{Calls: 1}}, nil
})

// Each run of a runner has its own sink and its own text function. The runner's
// sink receives the events of all runs. A run does not change the runner.
func TestOptionsOfOneRun(t *testing.T) {
	var mu sync.Mutex
	whole := map[string]int{}
	r := newRunner(t, runner.WithModel(streaming), runner.WithSink(event.Func(func(e event.Event) {
		mu.Lock()
		whole[e.Run]++
		mu.Unlock()
	})))
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: 'I am {{ input.n }}.'}]")
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			id, streamed, events := fmt.Sprintf("run-%d", n), "", 0
			_, err := r.Run(t.Context(), c, map[string]any{"n": n}, runner.WithRunID(id),
				runner.WithText(func(phase, text string) { streamed += phase + ":" + text }),
				runner.WithSink(event.Func(func(e event.Event) {
					events++
					if e.Run != id {
						t.Errorf("%s is reported of %s", id, e.Run)
					}
				})))
			mu.Lock()
			defer mu.Unlock()
			if want := fmt.Sprintf("a:I a:am a:%d. ", n); err != nil || streamed != want || events == 0 || events != whole[id] {
				t.Errorf("%v, heard %q, want %q; reported of %d events of %d", err, streamed, want, events, whole[id])
			}
		})
	}
	all.Wait()
	if _, err := r.Run(t.Context(), c, map[string]any{"n": 50}); err != nil || len(whole) != 51 {
		t.Error(err, len(whole))
	}
}

// The text function receives whole characters, wherever the model splits them.
func TestWholeCharacters(t *testing.T) {
	for text, want := range map[string][]string{
		"a\xf0|\x9f\xa6|\x89b|c": {"a", "🦉b", "c"},
		"\xc3|\xbc":              {"ü"},
		"a\xc3||b":               {"a", "", "b"}, // the text starts again
		"a\xc3|b":                {"a", "\xc3b"},
		"a|b\xf0\x9f":            {"a", "b", "\xf0\x9f"},
	} {
		m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
			for piece := range strings.SplitSeq(text, "|") {
				req.OnText(piece)
			}
			return model.Response{Text: "said"}, nil
		})
		var pieces []string
		r := newRunner(t, runner.WithModel(m), runner.WithText(func(_, text string) { pieces = append(pieces, text) }))
		if _, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a}]"), nil); err != nil || !slices.Equal(pieces, want) {
			t.Errorf("%q is heard as %q, want %q; %v", text, pieces, want, err)
		}
	}
}

// TestHeardNoMore checks that the text function is not called after the end of
// the call.
func TestHeardNoMore(t *testing.T) {
	var late func(string)
	m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		late = req.OnText
		late("said")
		return model.Response{Text: "said"}, nil
	})
	streamed := ""
	r := newRunner(t, runner.WithModel(m), runner.WithText(func(_, text string) { streamed += text }))
	_, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a}]"), nil)
	if late("too late"); err != nil || streamed != "said" {
		t.Errorf("heard %q, %v", streamed, err)
	}
}

// The model, the model's name and the answers of a run replace those of the
// runner, in any order of the options.
func TestRunHasItsOwn(t *testing.T) {
	r := newRunner(t, runner.WithModelName("openai:theirs"))
	c := parsed(t, r, "cascade_id: c\nphases:\n  - {name: a, instructions: a}\n  - {name: b, instructions: b, human_input: {prompt: ok, type: confirmation}}")
	var asked []string
	m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		asked = append(asked, req.Model)
		return model.Response{Text: "yes"}, nil
	})
	yes := func(context.Context, engine.Question) (engine.Answer, error) { return engine.Answer{Value: true}, nil }
	for _, options := range [][]runner.RunOption{
		{runner.WithModelName("openai:mine"), runner.WithModel(m), runner.WithAsk(yes), runner.WithRunID("one")},
		{runner.WithRunID("two"), runner.WithAsk(yes), runner.WithModel(m), runner.WithModelName("openai:mine")},
	} {
		if res, err := r.Run(t.Context(), c, nil, options...); err != nil || res.Status != engine.Succeeded {
			t.Error(res.Status, err)
		}
	}
	if want := []string{"openai:mine", "openai:mine", "openai:mine", "openai:mine"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	if _, err := r.Run(t.Context(), c, nil); code(err) != engine.Invalid {
		t.Errorf("the runner has kept a run's model: %v", err)
	}
}

// TestTraceWithoutSinks checks that the context of a call identifies its run
// even if there is no sink.
func TestTraceWithoutSinks(t *testing.T) {
	var runs []string
	r := newRunner(t, runner.WithModel(streaming), runner.WithTrace(func(ctx context.Context, run string, _ event.Path) context.Context {
		runs = append(runs, run)
		return ctx
	}))
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a}]")
	if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("mine")); err != nil || !slices.Equal(runs, []string{"mine"}) {
		t.Errorf("%q, %v", runs, err)
	}
}
