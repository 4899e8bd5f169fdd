package runner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// streaming answers with what it was asked, in pieces.
var streaming = model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
	said := req.Messages[len(req.Messages)-1].Content
	for piece := range strings.FieldsSeq(said) {
		if req.OnText != nil {
			req.OnText(piece + " ")
		}
	}
	return model.Response{Text: said, Usage: model.Usage{Calls: 1}}, nil
})

// Each of many runs of one runner has its own sink and hears its own text; the
// runner's own sink is told of all, and no run changes the runner.
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
			id, heard, told := fmt.Sprintf("run-%d", n), "", 0
			_, err := r.Run(t.Context(), c, map[string]any{"n": n}, runner.WithRunID(id),
				runner.WithText(func(phase, text string) { heard += phase + ":" + text }),
				runner.WithSink(event.Func(func(e event.Event) {
					told++
					if e.Run != id {
						t.Errorf("%s is told of %s", id, e.Run)
					}
				})))
			mu.Lock()
			defer mu.Unlock()
			if want := fmt.Sprintf("a:I a:am a:%d. ", n); err != nil || heard != want || told == 0 || told != whole[id] {
				t.Errorf("%v, heard %q, want %q; told of %d events of %d", err, heard, want, told, whole[id])
			}
		})
	}
	all.Wait()
	if _, err := r.Run(t.Context(), c, map[string]any{"n": 50}); err != nil || len(whole) != 51 {
		t.Error(err, len(whole))
	}
}

// Who listens hears whole characters, however a model cuts them.
func TestWholeCharacters(t *testing.T) {
	for said, want := range map[string][]string{
		"a\xf0|\x9f\xa6|\x89b|c": {"a", "🦉b", "c"},
		"\xc3|\xbc":              {"ü"},
		"a\xc3||b":               {"a", "", "b"}, // it begins anew
		"a\xc3|b":                {"a", "\xc3b"},
		"a|b\xf0\x9f":            {"a", "b", "\xf0\x9f"},
	} {
		m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
			for piece := range strings.SplitSeq(said, "|") {
				req.OnText(piece)
			}
			return model.Response{Text: "said"}, nil
		})
		var heard []string
		r := newRunner(t, runner.WithModel(m), runner.WithText(func(_, text string) { heard = append(heard, text) }))
		if _, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a}]"), nil); err != nil || !slices.Equal(heard, want) {
			t.Errorf("%q is heard as %q, want %q; %v", said, heard, want, err)
		}
	}
}

// A model that goes on when its call is over is heard no more: what it says is of
// another call by then.
func TestHeardNoMore(t *testing.T) {
	var late func(string)
	m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		late = req.OnText
		late("said")
		return model.Response{Text: "said"}, nil
	})
	heard := ""
	r := newRunner(t, runner.WithModel(m), runner.WithText(func(_, text string) { heard += text }))
	_, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a}]"), nil)
	if late("too late"); err != nil || heard != "said" {
		t.Errorf("heard %q, %v", heard, err)
	}
}

// A run's own model, its name and who answers its questions stand in for the
// runner's, also where the run has them in another order.
func TestRunHasItsOwn(t *testing.T) {
	r := newRunner(t, runner.WithModelName("openai:theirs"))
	c := parsed(t, r, "cascade_id: c\nphases:\n  - {name: a, instructions: a}\n  - {name: b, instructions: b, human_input: {prompt: ok, type: confirmation}}")
	var asked []string
	m := model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		asked = append(asked, req.Model)
		return model.Response{Text: "yes"}, nil
	})
	yes := func(context.Context, runner.Question) (runner.Answer, error) { return runner.Answer{Value: true}, nil }
	for _, options := range [][]runner.RunOption{
		{runner.WithModelName("openai:mine"), runner.WithModel(m), runner.WithAsk(yes), runner.WithRunID("one")},
		{runner.WithRunID("two"), runner.WithAsk(yes), runner.WithModel(m), runner.WithModelName("openai:mine")},
	} {
		if res, err := r.Run(t.Context(), c, nil, options...); err != nil || res.Status != runner.Succeeded {
			t.Error(res.Status, err)
		}
	}
	if want := []string{"openai:mine", "openai:mine", "openai:mine", "openai:mine"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q", asked)
	}
	if _, err := r.Run(t.Context(), c, nil); code(err) != runner.Failed {
		t.Errorf("the runner has kept a run's model: %v", err)
	}
}

// What is called learns whose work it is, also where no sink is told.
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
