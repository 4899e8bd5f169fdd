package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// carelessly is a model that is not a [model.Func].
type carelessly struct {
	call func(model.Request) model.Response
}

func (a carelessly) Call(_ context.Context, r model.Request) (model.Response, error) {
	return a.call(r), nil
}

// A panic or Goexit in a program's own code ends its run, in whichever
// goroutine it occurs. It does not end the process.
func TestCareless(t *testing.T) {
	const alone, together = "cascade_id: c\nphases: [{name: a, instructions: a}]",
		"cascade_id: c\nphases: [{name: g, together: [{name: a, instructions: a}, {name: b, instructions: b}]}]"
	reply := func(r model.Request) model.Response {
		if r.OnText != nil {
			r.OnText("x")
		}
		return model.Response{Text: "yes"}
	}
	boom := func(model.Request) model.Response { panic("boom") }
	lost := func(model.Request) model.Response {
		return model.Response{Text: "yes", Usage: model.Usage{Calls: -1, InputTokens: math.MinInt, CostUSD: math.NaN()}}
	}
	loud := event.Func(func(e event.Event) {
		if e.Kind == event.ModelReplied {
			panic("boom")
		}
	})
	for name, test := range map[string]struct {
		source  string
		model   model.Model
		options []runner.RunOption
		says    string // of the error; "" for a run that succeeds
		panics  bool
	}{
		"fine":                    {alone, carelessly{reply}, nil, "", false},
		"a model":                 {alone, carelessly{boom}, nil, "panic: boom", false},
		"a model in a branch":     {together, carelessly{boom}, nil, "panic: boom", false},
		"a function":              {together, model.Func(func(context.Context, model.Request) (model.Response, error) { panic("boom") }), nil, "panic: boom", false},
		"no function":             {alone, model.Func(nil), nil, "panic: ", false},
		"who listens":             {together, carelessly{reply}, []runner.RunOption{runner.WithText(func(_, _ string) { panic("boom") })}, "panic: boom", false},
		"a sink":                  {alone, carelessly{reply}, []runner.RunOption{runner.WithSink(loud)}, "", true},
		"a sink in a branch":      {together, carelessly{reply}, []runner.RunOption{runner.WithSink(loud)}, "", true},
		"no numbers":              {alone, carelessly{lost}, nil, "", false},
		"nobody is told":          {alone, carelessly{reply}, []runner.RunOption{runner.WithSink(nil)}, "", false},
		"nobody listens":          {alone, carelessly{reply}, []runner.RunOption{runner.WithText(nil)}, "", false},
		"nobody listens to calls": {together, carelessly{reply}, []runner.RunOption{runner.WithDrafts(nil)}, "", false},
	} {
		for _, recorded := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				options := []runner.Option{runner.WithModel(test.model), runner.WithText(func(_, _ string) {})}
				if recorded {
					j, err := journal.Open(filepath.Join(t.TempDir(), "j.db"), journal.Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer j.Close()
					options = append(options, runner.WithJournal(j))
				}
				r := newRunner(t, options...)
				c := parsed(t, r, test.source)
				defer func() {
					p := recover()
					if test.panics != (p != nil) || p != nil && p != any("boom") {
						t.Errorf("kept %t: panics %v", recorded, p)
					}
					if p == nil || !recorded {
						return
					}
					if res, err := r.Resume(t.Context(), "one"); err != nil || res.Status != engine.Succeeded {
						t.Errorf("does not go on: %s, %v", res.Status, err)
					}
				}()
				res, err := r.Run(t.Context(), c, nil, append(test.options, runner.WithRunID("one"))...)
				var no *engine.Error
				calls := strings.Count(test.source, "instructions:")
				counted := model.Usage{Calls: calls, InputTokens: 8 * calls, OutputTokens: calls, Estimated: true}
				switch {
				case test.says == "" && (err != nil || res.Status != engine.Succeeded || res.Usage != counted):
					t.Errorf("kept %t: %s %+v, %v", recorded, res.Status, res.Usage, err)
				case test.says != "" && (!errors.As(err, &no) || no.Code != engine.Failed || !strings.Contains(err.Error(), test.says)):
					t.Errorf("kept %t: %s, %v", recorded, res.Status, err)
				}
			})
		}
	}
}

// Tools and the ask function receive copies: their changes do not reach later
// runs or later phases.
func TestCarelessHands(t *testing.T) {
	const source = `
cascade_id: c
inputs_schema: {conf: {type: object, default: {a: [1, {b: 2}]}}}
phases:
  - {name: a, tool: spoils, inputs: {conf: "{{ input.conf }}", list: [z, {k: v}]}}
  - {name: b, compose: b, human_input: {prompt: 'Which?', type: choice, options: [z, a]}}
  - {name: c, tool: spoils, inputs: {conf: "{{ input.conf }}", list: [z, {k: v}]}}`
	spoils := tool.Declared("spoils", "spoil what it is given", map[string]any{"type": "object"}, func(_ context.Context, c tool.Call) (any, error) {
		arguments, err := json.Marshal(c.Arguments)
		c.Arguments["conf"].(map[string]any)["a"].([]any)[1].(map[string]any)["b"] = "spoilt"
		c.Arguments["list"].([]any)[0] = "spoilt"
		return string(arguments), err
	})
	sorts := func(_ context.Context, q engine.Question) (engine.Answer, error) {
		first := q.Options[0]
		slices.Sort(q.Options)
		return engine.Answer{Value: first}, nil
	}
	r := newRunner(t, runner.WithTools(spoils), runner.WithAsk(sorts))
	c := parsed(t, r, source)
	for range 2 {
		res, err := r.Run(t.Context(), c, nil)
		want := `{"conf":{"a":[1,{"b":2}]},"list":["z",{"k":"v"}]}`
		if err != nil || res.Outputs["a"] != want || res.Outputs["c"] != want || res.Answers[0].Value != "z" {
			t.Errorf("got %v, %v, %v", res.Outputs, res.Answers, err)
		}
	}
}

// TestBranchEnds checks that the goroutine of the cascade ends if a branch ends
// its own, for example by FailNow.
func TestBranchEnds(t *testing.T) {
	ended, returned := make(chan bool), false
	go func() {
		defer close(ended)
		_ = newRunner(t).Host(t.Context()).Each(3, 0, func(_ engine.Host, i int) error {
			if i == 1 {
				runtime.Goexit()
			}
			return nil
		})
		returned = true
	}()
	if <-ended; returned {
		t.Error("a branch that came to nothing is taken for one that was done")
	}
}

// TestBranchPanics checks that a panic in one branch ends all branches, before
// and after the failure of another branch.
func TestBranchPanics(t *testing.T) {
	for _, before := range []bool{true, false} {
		p := func() (p any) {
			defer func() { p = recover() }()
			begun := make(chan bool)
			_ = newRunner(t).Host(t.Context()).Each(2, 0, func(h engine.Host, i int) error {
				if first := (i == 0) == before; first {
					<-begun
				} else {
					close(begun)
					for h.Stopped() == nil {
						runtime.Gosched()
					}
				}
				if i == 1 {
					panic("boom")
				}
				return errors.New("failed")
			})
			return nil
		}()
		if p != any("boom") {
			t.Errorf("failed before: %t: panics %v", before, p)
		}
	}
}
