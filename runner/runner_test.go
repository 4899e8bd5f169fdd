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
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// slow answers after a while, or when the call is over.
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

// effect makes an impure validator of a function.
func effect(name string, judge func(context.Context) (validators.Verdict, error)) validators.Validator {
	return validators.New(name, name, func(ctx context.Context, _ struct{}, _ validators.Subject) (validators.Verdict, error) {
		return judge(ctx)
	}, validators.Impure)
}

func code(err error) string {
	var e *runner.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("no *runner.Error: %v", err)
	}
	return e.Code
}

func TestAttemptTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(2*time.Minute)))
		c := parsed(t, r, "cascade_id: c\nphases: [{name: a, instructions: a, rules: {timeout: 90s}}]")
		started := time.Now()
		res, err := r.Run(t.Context(), c, nil)
		if code(err) != runner.Failed || !strings.Contains(err.Error(), "longer than 1m30s") {
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
		if code(err) != runner.OverBudget || res.Status != runner.OverBudget {
			t.Errorf("got %v, %s", err, res.Status)
		}
		if took := time.Since(started); took != 90*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Of two limits, one within the other, the one that is over says so.
func TestBudgetWithinAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, runner.WithModel(slow(time.Hour)))
		c := parsed(t, r, "cascade_id: c\nbudget: {max_seconds: 60}\nphases: [{name: a, instructions: a, rules: {timeout: 90s, on_error: b}}, {name: b, instructions: b}]")
		if _, err := r.Run(t.Context(), c, nil); code(err) != runner.OverBudget {
			t.Errorf("got %v", err)
		}
		c = parsed(t, r, "cascade_id: c\nbudget: {max_seconds: 90}\nphases: [{name: a, instructions: a, rules: {timeout: 60s}}]")
		if _, err := r.Run(t.Context(), c, nil); code(err) != runner.Failed {
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
		if code(err) != runner.Cancelled || res.Status != runner.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %s", err, res.Status)
		}
	})
}

// Whatever a run waits for when it is cancelled, its error says why.
func TestCause(t *testing.T) {
	waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	r := newRunner(t,
		runner.WithModel(model.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
			return model.Response{}, waits(ctx)
		})),
		runner.WithTools(tool.New("waits", "wait", func(ctx context.Context, _ struct{}) (any, error) { return nil, waits(ctx) })),
		runner.WithValidators(effect("waits", func(ctx context.Context) (validators.Verdict, error) { return validators.Verdict{}, waits(ctx) })),
		runner.WithAsk(func(ctx context.Context, _ runner.Question) (runner.Answer, error) {
			return runner.Answer{}, waits(ctx)
		}))
	for _, phase := range []string{
		"instructions: a", "instructions: a, soundings: {factor: 2}", "instructions: a, each: {in: [1, 2], on_failure: keep}", "tool: waits",
		"compose: a, wards: {post: [{validator: waits, mode: advisory}]}", "compose: a, human_input: {prompt: 'Good?'}",
		"compose: a, human_input: {prompt: 'Good?', expires: 1h}",
	} {
		synctest.Test(t, func(t *testing.T) {
			why := errors.New("it is late")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { cancel(why) })
			res, err := r.Run(ctx, parsed(t, r, "cascade_id: c\nphases: [{name: a, "+phase+"}]"), nil)
			if code(err) != runner.Cancelled || res.Status != runner.Cancelled || !errors.Is(err, why) {
				t.Errorf("%s: got %v, %s", phase, err, res.Status)
			}
		})
	}
}

// Where a call of a phase's model ended the run, its failure is in the error's chain.
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

// Of a run that is over nothing more begins.
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
	if _, err := r.Run(ctx, c, nil); code(err) != runner.Cancelled || begun != 1 {
		t.Errorf("got %v; %d items begun", err, begun)
	}
}

// What is not pure runs at the same time, and the first that stops the run
// cancels what is still running.
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
		if code(err) != runner.Blocked || !cancelled.Load() {
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

// A validator that cannot say is asked again on its own, with a pause where
// the network was the cause. The author of the text hears nothing of it.
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

// The time that a person takes is the attempt's where she is asked within it, and
// not where she has the last word on its text.
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
			late := runner.WithAsk(func(ctx context.Context, _ runner.Question) (runner.Answer, error) {
				select {
				case <-time.After(2 * time.Minute):
					return runner.Answer{Value: "kim"}, nil
				case <-ctx.Done():
					return runner.Answer{}, ctx.Err()
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

// Tries run at the same time, at most max_parallel of them.
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

// Items are at work at the same time too, eight of them unless the file says
// otherwise.
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

// Parallel branches share one budget, to the call. Each call takes longer than those
// before it: none has only begun when the next is forbidden, which cancels it.
func TestBudgetOfBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		r := newRunner(t, runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
			time.Sleep(time.Duration(calls.Add(1)) * time.Minute)
			return model.Response{Text: "x", Usage: model.Usage{Calls: 1}}, nil
		})))
		c := parsed(t, r, "cascade_id: c\nbudget: {max_calls: 7}\nphases: [{name: a, instructions: a, rules: {max_turns: 5}, soundings: {factor: 4}}]")
		res, err := r.Run(t.Context(), c, nil)
		if code(err) != runner.OverBudget || calls.Load() != 7 || res.Usage.Calls != 7 {
			t.Errorf("got %v after %d calls, %+v", err, calls.Load(), res.Usage)
		}
	})
}

// One runner and one cascade serve many runs at the same time; nothing of one
// shows in another.
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
	if _, err := r.Run(t.Context(), c, nil); code(err) != runner.Failed || !strings.Contains(err.Error(), "no model is configured") {
		t.Errorf("got %v", err)
	}
}

func TestInputThatIsNotPlain(t *testing.T) {
	r := newRunner(t)
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, tool: non_empty, inputs: {content: x}}]")
	if _, err := r.Run(t.Context(), c, map[string]any{"f": func() {}}); code(err) != runner.Invalid {
		t.Errorf("got %v", err)
	}
	type point struct{ X int }
	if _, err := r.Run(t.Context(), c, map[string]any{"p": point{3}}); err != nil {
		t.Errorf("got %v", err)
	}
}

// What a run is called stands in addresses and on command lines.
func TestRunNames(t *testing.T) {
	r := newRunner(t)
	c := parsed(t, r, "cascade_id: c\nphases: [{name: a, compose: x}]")
	for name, want := range map[string]string{
		"": "", "a": "", "7": "", "last-week": "", "b1f3.2": "", "a:run": "", "v1..2_x": "", strings.Repeat("a", 128): "",
		".": runner.Invalid, "..": runner.Invalid, "-q": runner.Invalid, "a b": runner.Invalid, "last": runner.Invalid, "lastly": "", "a/b": runner.Invalid, "a\nb": runner.Invalid,
		"a\n": runner.Invalid, "a\x1b[31m": runner.Invalid, "täglich": runner.Invalid, "a\u202eb": runner.Invalid, strings.Repeat("a", 129): runner.Invalid,
	} {
		if _, err := r.Run(t.Context(), c, nil, runner.WithRunID(name)); (code(err) == runner.Invalid) != (want != "") {
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
		panic(err) // cascades.Diagnostics: everything that is wrong with the file
	}
	res, err := r.Run(context.Background(), c, map[string]any{"topic": "owls"})
	var no *runner.Error
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
	var no *runner.Error
	if errors.As(err, &no) {
		fmt.Println(no.Code, no.Phase, no.Check)
	}
	fmt.Println(res.Status, res.Output)
	// Output:
	// blocked answer excludes
	// blocked <nil>
}
