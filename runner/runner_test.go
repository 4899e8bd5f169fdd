package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// slow returns a model that answers after d, or when the call is cancelled.
func slow(d time.Duration) model.Model {
	return model.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
		select {
		case <-time.After(d):
			return model.Response{Text: "a text", Usage: model.Usage{Calls: 1}}, nil
		case <-ctx.Done():
			return model.Response{Usage: model.Usage{Calls: 1}}, context.Cause(ctx)
		}
	})
}

// effect returns an impure validator with the function.
func effect(name string, judge func(context.Context) (validators.Verdict, error)) validators.Validator {
	return validators.New(name, name, func(ctx context.Context, _ struct{}, _ validators.Subject) (validators.Verdict, error) {
		return judge(ctx)
	}, validators.Impure)
}

func code(err error) string {
	var e *engine.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("no *engine.Error: %v", err)
	}
	return e.Code
}

func TestAttemptTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(2*time.Minute)))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, rules: {timeout: 90s}}]")
		started := time.Now()
		res, err := r.Run(t.Context(), c, nil)
		if code(err) != engine.Failed || !strings.Contains(err.Error(), "longer than 1m30s") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(started); took != 90*time.Second {
			t.Errorf("took %v", took)
		}
		if res.Usage.Calls != 1 {
			t.Errorf("the call that was cut is not counted: %+v", res.Usage)
		}
	})
}

func TestBudgetOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(time.Minute)))
		c := parsed(t, r, "cascade_id: c\nbudget: {max_seconds: 90}\nphases: [{name: a, instructions: a, handoffs: [a]}]")
		started := time.Now()
		res, err := r.Run(t.Context(), c, nil)
		if code(err) != engine.OverBudget || res.Status != engine.OverBudget {
			t.Errorf("got %v, %s", err, res.Status)
		}
		if took := time.Since(started); took != 90*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// If one limit contains another, the error names the limit that was exceeded.
func TestBudgetWithinAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(time.Hour)))
		c := parsed(t, r, "cascade_id: c\nbudget: {max_seconds: 60}\nphases: [{name: a, instructions: a, rules: {timeout: 90s, on_error: b}}, {name: b, instructions: b}]")
		if _, err := r.Run(t.Context(), c, nil); code(err) != engine.OverBudget {
			t.Errorf("got %v", err)
		}
		c = parsed(t, r, "cascade_id: c\nbudget: {max_seconds: 90}\nphases: [{name: a, instructions: a, rules: {timeout: 60s}}]")
		if _, err := r.Run(t.Context(), c, nil); code(err) != engine.Failed {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancelledRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(time.Hour)))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, soundings: {factor: 3}, rules: {timeout: 3h}}]")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		res, err := r.Run(ctx, c, nil)
		if code(err) != engine.Cancelled || res.Status != engine.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %s", err, res.Status)
		}
	})
}

// The error of a cancelled run has the cause, whatever the run was waiting for.
func TestCause(t *testing.T) {
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	r := newRunner(t,
		runner.WithModel(model.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
			return model.Response{}, waits(ctx)
		})),
		runner.WithTools(tool.New("waits", "wait", func(ctx context.Context, _ struct{}) (any, error) { return nil, waits(ctx) })),
		runner.WithValidators(effect("waits", func(ctx context.Context) (validators.Verdict, error) { return validators.Verdict{}, waits(ctx) })),
		runner.WithAsk(func(ctx context.Context, _ engine.Question) (engine.Answer, error) {
			return engine.Answer{}, waits(ctx)
		}))
	for _, phase := range []string{
		"instructions: a", "instructions: a, soundings: {factor: 2}", "instructions: a, each: {in: [1, 2], on_failure: keep}", "tool: waits",
		"compose: a, wards: {post: [{validator: waits, mode: advisory}]}", "compose: a, human_input: {prompt: 'Good?'}",
		"compose: a, human_input: {prompt: 'Good?', expires: 1h}",
	} {
		synctest.Test(t, func(t *testing.T) {
			cause := errors.New("it is late")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { cancel(cause) })
			res, err := r.Run(ctx, parsed(t, r, "cascade_id: c\nphases: [{name: a, "+phase+"}]"), nil)
			if code(err) != engine.Cancelled || res.Status != engine.Cancelled || !errors.Is(err, cause) || !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), context.Canceled.Error()) {
				t.Errorf("%s: got %v, %s", phase, err, res.Status)
			}
		})
	}
}

// If a call of a phase's model ended the run, the error wraps the failure.
func TestFailureInChain(t *testing.T) {
	r := newRunner(t, runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{}, fmt.Errorf("asked: %w", &model.Failure{Class: model.RateLimited, Message: "slow down"})
	})))
	for _, source := range []string{
		"phases: [{name: a, instructions: a}]",
		"model: [one, two]\nphases: [{name: a, instructions: a, rules: {timeout: 1m}}]",
		"budget: {max_seconds: 60}\nphases: [{name: g, together: [{name: a, instructions: a}, {name: b, compose: b}]}]",
		"phases: [{name: a, instructions: '{{ item }}', each: {in: [1, 2]}}]",
	} {
		_, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\n"+source), nil)
		var failure *model.Failure
		if !errors.As(err, &failure) || failure.Class != model.RateLimited {
			t.Errorf("%s: got %v", source, err)
		}
	}
}

// A cancelled run starts no further call.
func TestCancelledBeginsNoMore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := 0
	r := newRunner(t, runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		cancel()
		return model.Response{}, ctx.Err()
	})), runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.PhaseStarted && e.Path != "a" {
			begun++
		}
	})))
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, each: {in: [1, 2, 3, 4, 5], max_parallel: 1, on_failure: keep}}]")
	if _, err := r.Run(ctx, c, nil); code(err) != engine.Cancelled || begun != 1 {
		t.Errorf("got %v; %d items begun", err, begun)
	}
}

// Impure checks run in parallel. The first one that stops the run cancels the
// others.
func TestChecksTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled atomic.Bool
		patient := effect("patient", func(ctx context.Context) (validators.Verdict, error) {
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
				cancelled.Store(true)
			}
			return validators.Pass("at last"), ctx.Err()
		})
		strict := effect("strict", func(context.Context) (validators.Verdict, error) {
			time.Sleep(time.Second)
			return validators.Fail("no"), nil
		})
		r := newRunner(t, runner.WithModel(slow(0)), runner.WithValidators(patient, strict))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, wards: {post: [{validator: patient}, {validator: strict}]}}]")
		started := time.Now()
		res, err := r.Run(t.Context(), c, nil)
		if code(err) != engine.Blocked || !cancelled.Load() {
			t.Errorf("got %v, cancelled %v", err, cancelled.Load())
		}
		if took := time.Since(started); took != time.Second {
			t.Errorf("took %v", took)
		}
		if len(res.Verdicts) != 1 || res.Verdicts[0].Validator != "strict" {
			t.Errorf("got %+v", res.Verdicts)
		}
	})
}

// A validator that returns an error is retried, with a pause after a network
// error. The model does not see the error.
func TestErrorIsRetriedOnItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		shaky := effect("shaky", func(context.Context) (validators.Verdict, error) {
			if calls++; calls < 3 {
				return validators.Verdict{}, &net.OpError{Op: "dial", Err: errors.New("refused")}
			}
			return validators.Pass("fine"), nil
		})
		r := newRunner(t, runner.WithModel(slow(0)), runner.WithValidators(shaky))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, wards: {post: [{validator: shaky, mode: retry}]}}]")
		started := time.Now()
		res, err := r.Run(t.Context(), c, nil)
		if err != nil || calls != 3 || res.Phases[0].Attempts != 1 || res.Usage.Calls != 1 {
			t.Errorf("got %v after %d calls: %+v", err, calls, res)
		}
		if took := time.Since(started); took != 750*time.Millisecond {
			t.Errorf("paused for %v", took)
		}
	})
}

// The time limit of an attempt includes the time of a person who answers during
// the attempt. It does not include a final review.
func TestPeopleTakeTheirTime(t *testing.T) {
	for phase, failed := range map[string]bool{
		"instructions: a, tackle: [ask_human]":                          true,
		"instructions: a, human_input: {prompt: 'Better?', type: edit}": false,
	} {
		synctest.Test(t, func(t *testing.T) {
			asking := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				resp := model.Response{Text: "text", Usage: model.Usage{Calls: 1}}
				if len(r.Tools) > 0 && len(r.Messages) == 1 {
					resp.ToolCalls = []model.ToolCall{{ID: "1", Name: "ask_human", Arguments: `{"question": "Who?"}`}}
				}
				return resp, nil
			})
			late := runner.WithAsk(func(ctx context.Context, _ engine.Question) (engine.Answer, error) {
				select {
				case <-time.After(2 * time.Minute):
					return engine.Answer{Value: "kim"}, nil
				case <-ctx.Done():
					return engine.Answer{}, ctx.Err()
				}
			})
			r := newRunner(t, runner.WithModel(asking), late)
			_, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases: [{name: a, rules: {timeout: 90s}, "+phase+"}]"), nil)
			if (err != nil) != failed || failed && !strings.Contains(err.Error(), "longer than 1m30s") {
				t.Errorf("%s: got %v", phase, err)
			}
		})
	}
}

// Tries run in parallel, at most max_parallel of them.
func TestSoundingsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(time.Minute)))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, soundings: {factor: 6, max_parallel: 3}}]")
		started := time.Now()
		res, err := r.Run(t.Context(), c, nil)
		if err != nil || res.Phases[0].ModelCalls != 6 || res.Phases[0].Turns != 6 {
			t.Errorf("got %v, %+v", err, res.Phases)
		}
		if took := time.Since(started); took != 2*time.Minute {
			t.Errorf("took %v", took)
		}
	})
}

// Items run in parallel. Default: 8.
func TestItemsInParallel(t *testing.T) {
	for parallel, want := range map[string]time.Duration{"": 2 * time.Minute, ", max_parallel: 4": 3 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r := newRunner(t, runner.WithModel(slow(time.Minute)))
			c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, each: {in: [1, 2, 3, 4, 5, 6, 7, 8, 9]"+parallel+"}}]")
			started := time.Now()
			if _, err := r.Run(t.Context(), c, nil); err != nil {
				t.Error(err)
			}
			if took := time.Since(started); took != want {
				t.Errorf("%q took %v, want %v", parallel, took, want)
			}
		})
	}
}

// Parallel branches share one budget. Each call takes longer than the calls
// before it. The call that exceeds the budget is therefore cancelled while it
// runs.
func TestBudgetOfBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		r := newRunner(t, runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
			time.Sleep(time.Duration(calls.Add(1)) * time.Minute)
			return model.Response{Text: "x", Usage: model.Usage{Calls: 1}}, nil
		})))
		c := parsed(t, r, "cascade_id: c\nbudget: {max_calls: 7}\nphases: [{name: a, instructions: a, rules: {max_turns: 5}, soundings: {factor: 4}}]")
		res, err := r.Run(t.Context(), c, nil)
		if code(err) != engine.OverBudget || calls.Load() != 7 || res.Usage.Calls != 7 {
			t.Errorf("got %v after %d calls, %+v", err, calls.Load(), res.Usage)
		}
	})
}

// One runner and one cascade serve many runs at the same time. The runs do not
// affect each other.
func TestManyRuns(t *testing.T) {
	echo := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: r.Messages[len(r.Messages)-1].Content, Usage: model.Usage{Calls: 1}}, nil
	})
	var mu sync.Mutex
	seqs := map[int64]int{}
	r := newRunner(t, runner.WithModel(echo), runner.WithSink(event.Func(func(e event.Event) {
		mu.Lock()
		seqs[e.Seq]++
		mu.Unlock()
	})))
	c := parsed(t, r, "cascade_id: c\nphases:\n  - {name: a, instructions: 'I am {{ input.n }}.', wards: {post: [{expr: \"content == 'I am ' + string(input.n) + '.'\"}]}}")
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			res, err := r.Run(t.Context(), c, map[string]any{"n": n})
			if want := fmt.Sprintf("I am %d.", n); err != nil || res.Output != want {
				t.Errorf("got %v, %v", res.Output, err)
			}
		})
	}
	all.Wait()
	if seqs[1] != 200 {
		t.Errorf("%d runs began their events with 1", seqs[1])
	}
}

func TestRunWithoutModel(t *testing.T) {
	r := newRunner(t)
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a}]")
	if _, err := r.Run(t.Context(), c, nil); code(err) != engine.Invalid || !strings.Contains(err.Error(), "phase a: no model is configured: pass runner.WithModel") {
		t.Errorf("got %v", err)
	}
	free := parsed(t, r, "cascade_id: c\nphases: [{name: a, compose: text}]")
	if _, err := r.Run(t.Context(), free, nil); err != nil {
		t.Errorf("a cascade without model calls: %v", err)
	}
}

func TestInputThatIsNotPlain(t *testing.T) {
	r := newRunner(t)
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, tool: non_empty, inputs: {content: x}}]")
	if _, err := r.Run(t.Context(), c, map[string]any{"f": func() {}}); code(err) != engine.Invalid {
		t.Errorf("got %v", err)
	}
	type point struct{ X int }
	if _, err := r.Run(t.Context(), c, map[string]any{"p": point{3}}); err != nil {
		t.Errorf("got %v", err)
	}
}

// A run's name must be valid in a URL and on a command line.
func TestRunNames(t *testing.T) {
	r := newRunner(t)
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, compose: x}]")
	for name, want := range map[string]string{
		"": "", "a": "", "7": "", "last-week": "", "b1f3.2": "", "a:run": "", "v1..2_x": "", strings.Repeat("a", 128): "",
		".": engine.Invalid, "..": engine.Invalid, "-q": engine.Invalid, "a b": engine.Invalid, "last": engine.Invalid, "lastly": "", "a/b": engine.Invalid, "a\nb": engine.Invalid,
		"a\n": engine.Invalid, "a\x1b[31m": engine.Invalid, "täglich": engine.Invalid, "a\u202eb": engine.Invalid, strings.Repeat("a", 129): engine.Invalid,
	} {
		if _, err := r.Run(t.Context(), c, nil, runner.WithRunID(name)); (code(err) == engine.Invalid) != (want != "") {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

func ExampleRunner_Run() {
	r, err := runner.New(runner.WithModel(model.Func(func(_ context.Context, req model.Request) (model.Response, error) {
		if req.Attempt == 1 {
			return model.Response{Text: "An owl."}, nil
		}
		return model.Response{Text: "Owls see in the dark."}, nil
	})))
	if err != nil {
		panic(err)
	}
	c, err := r.Parse("post.yaml", []byte(`
cascade_id: post
phases:
  - name: draft
    instructions: "Write about {{ input.topic }}."
    wards:
      post: [{validator: word_count, with: {min: 4}, mode: retry}]
`))
	if err != nil {
		panic(err) // syntax.Diagnostics: all errors of the file
	}
	res, err := r.Run(context.Background(), c, map[string]any{"topic": "owls"})
	var no *engine.Error
	if errors.As(err, &no) {
		fmt.Println(no.Code, no.Phase, no.Message)
	}
	fmt.Println(res.Output)
	for _, v := range res.Verdicts {
		fmt.Println(v.Path, *v.Valid)
	}
	// Output:
	// Owls see in the dark.
	// draft/attempt[1]/post[0] false
	// draft/attempt[2]/post[0] true
}

func ExampleRunner_Run_blocked() {
	r, _ := runner.New(runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "You will get a refund."}, nil
	})))
	c, _ := r.Parse("answer.yaml", []byte(`
cascade_id: answer
phases:
  - name: answer
    instructions: Answer.
    wards:
      post: [{validator: excludes, with: {text: refund}, mode: blocking}]
`))
	res, err := r.Run(context.Background(), c, nil)
	var no *engine.Error
	if errors.As(err, &no) {
		fmt.Println(no.Code, no.Phase, no.Check)
	}
	fmt.Println(res.Status, res.Output)
	// Output:
	// blocked answer excludes
	// blocked <nil>
}
