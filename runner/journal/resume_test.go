package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// storyOf parses a story in txtar form.
func storyOf(t testing.TB, text string) *story {
	t.Helper()
	return &story{storytest.Read(t, t.Name(), []byte(text))}
}

func load(t testing.TB, text string) *cascades.Cascade {
	t.Helper()
	return storyOf(t, "-- cascade.yaml --\n"+text).Cascade
}

// runnerOver returns a runner over a journal with a model and people.
func runnerOver(t testing.TB, j *Journal, m model.Model, more ...runner.Option) *runner.Runner {
	t.Helper()
	r, err := runner.New(append([]runner.Option{
		runner.WithJournal(j), runner.WithModel(m), runner.WithTools(storytest.Tools()...), runner.WithValidators(storytest.Validators()...),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// says answers by the end of the last message, and counts the calls.
type says struct {
	mu      sync.Mutex
	answers map[string]string
	calls   []string
	fails   map[string]int // how often it fails first
}

func (m *says) Call(_ context.Context, r model.Request) (model.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := r.Messages[len(r.Messages)-1].Content
	for end, answer := range m.answers {
		if strings.Contains(last, end) {
			m.calls = append(m.calls, end)
			usage := model.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5, CostUSD: 0.5}
			if m.fails[end] > 0 {
				m.fails[end]--
				return model.Response{Usage: usage}, &model.Failure{Class: model.Unavailable, Message: "down"}
			}
			return model.Response{Text: answer, Usage: usage}, nil
		}
	}
	return model.Response{}, &model.Failure{Class: model.Unscripted, Message: "nobody said " + last}
}

const twoPhases = `
cascade_id: two
inputs_schema: {topic: what}
phases:
  - {name: one, instructions: "First about {{ input.topic }}"}
  - {name: two, instructions: "Then {{ outputs.one }}"}
  - {name: three, instructions: "Last {{ outputs.two }}"}
`

// A failed run repeats only what failed, and its cost includes both.
func TestFailedRunTriesAgain(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := &says{answers: map[string]string{"First": "a", "Then": "b", "Last": "c"}, fails: map[string]int{"Then": 2}}
	var live collector
	r := runnerOver(t, j, m, runner.WithSink(&live))
	input := map[string]any{"topic": "owls"}
	_, err := r.Run(t.Context(), load(t, twoPhases), input, runner.WithRunID("run"))
	if err == nil {
		t.Fatal("it did not fail")
	}
	begun := reopen(t, j, "run")
	if s, err := j.Run(t.Context(), "run"); err != nil || s.Status != Running || s.Usage.Calls != 2 || s.Usage.CostUSD != 1 || s.Phases != 2 {
		t.Errorf("while it goes on: %+v, %v", s.Summary, err)
	}
	loseProcess(t, j, begun)
	if _, err = r.Resume(t.Context(), "run"); err == nil {
		t.Fatal("it did not fail again")
	}
	result, err := r.Resume(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"First", "Then", "Then", "Then", "Last"}; !reflect.DeepEqual(m.calls, want) {
		t.Errorf("calls: got %v, want %v", m.calls, want)
	}
	if result.Output != "c" || result.Usage.Calls != 5 || result.Usage.CostUSD != 2.5 {
		t.Errorf("got %+v", result)
	}
	stored, err := j.Result(t.Context(), "run")
	if err != nil || asJSON(t, stored) != asJSON(t, result) {
		t.Errorf("kept %s, %v", asJSON(t, stored), err)
	}
	same(t, "events", eventsOf(t, j, "run", Whole), live.events)
	replies := 0
	for _, e := range live.events {
		if e.Kind == event.ModelReplied && e.Path == "two/attempt[1]/turn[0]/model" {
			if failed := e.Response.Failure != nil; failed != (replies < 2) {
				t.Errorf("reply %d: %+v", replies, e.Response)
			}
			replies++
		}
	}
	if replies != 3 {
		t.Errorf("%d replies were reported", replies)
	}
	if n := len(effectsOf(t, j, "run")); n != 3 {
		t.Errorf("%d effects are stored", n)
	}
	if again, err := r.Resume(t.Context(), "run"); err != nil || asJSON(t, again) != asJSON(t, result) || len(m.calls) != 5 {
		t.Errorf("resuming a run that has ended: %+v, %v", again, err)
	}
}

// abreast is a host whose branches all finish, and whose model fails at first.
type abreast struct {
	quick
	up    *bool
	asked *[]event.Path
}

func (a abreast) Model(at event.Path, _ model.Request) (model.Response, error) {
	*a.asked = append(*a.asked, at)
	if !*a.up {
		return model.Response{Failure: &model.Failure{Class: model.Unavailable, Message: "down"}}, nil
	}
	return model.Response{Text: "ok"}, nil
}

func (a abreast) Each(n, _ int, body func(engine.Host, int) error) (first error) {
	for i := range n {
		first = cmp.Or(first, body(a, i))
	}
	return first
}

// All failed parallel branches are repeated at once, so that the run does not
// fail again with an old error. Finished ones stay.
func TestFailedBranchesTryAgain(t *testing.T) {
	onFile(t)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"items":         {`phases: [{name: p, each: {in: [a, b]}, instructions: x}]`, []string{"p/item[0]", "p/item[1]"}},
		"phases":        {`phases: [{name: p, together: [{name: a, instructions: x}, {name: b, instructions: x}]}]`, []string{"p/a", "p/b"}},
		"items within":  {`phases: [{name: p, together: [{name: a, instructions: x}, {name: b, each: {in: [a, b]}, instructions: x}]}]`, []string{"p/a", "p/b/item[0]", "p/b/item[1]"}},
		"what was kept": {`phases: [{name: p, each: {in: [a], on_failure: keep}, instructions: x}, {name: q, together: [{name: a, instructions: x}, {name: b, instructions: x}]}]`, []string{"q/a", "q/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			j, cascade := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{}), load(t, "cascade_id: c\n"+c.text)
			var up bool
			var asked []event.Path
			start := func(r runner.Recording) engine.Result {
				asked = nil
				result, err := engine.Run(r.Host(abreast{up: &up, asked: &asked}), cascade, engine.State{RunID: "run"})
				var cause *engine.Error
				errors.As(err, &cause)
				if err := r.End(result, cause); err != nil {
					t.Fatal(err)
				}
				return result
			}
			if result := start(begin(t, j, runner.Start{RunID: "run"})); result.Status != engine.Failed {
				t.Fatalf("it %s", result.Status)
			}
			up = true
			if result := start(reopen(t, j, "run")); result.Status != engine.Succeeded {
				t.Errorf("it %s: %v", result.Status, result.Error)
			}
			var got []string
			for _, at := range asked {
				got = append(got, strings.TrimSuffix(string(at), "/attempt[1]/turn[0]/model"))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("asked again: %v, want %v", got, c.want)
			}
		})
	}
}

// An answer of no use is requested again, not replayed forever; other answers
// stay.
func TestNonsenseIsAskedForAgain(t *testing.T) {
	onFile(t)
	const yes = `'{"valid": true, "reason": "r"}'`
	for name, text := range map[string]string{
		"a judge": `phases: [{name: p, instructions: x, wards: {post: [{judge: kind, name: j}, {judge: fair, name: k}]}}]
-- script.yaml --
- {reply: hm, validator: j, times: 3}
- {reply: ` + yes + `, validator: j}
- {reply: ` + yes + `, validator: k}
- {reply: ok, phase: p}`,
		"a vote of a loop": `phases: [{name: p, instructions: x, rules: {max_turns: 2, loop_until: {judge: kind, name: j, votes: 3}}}]
-- script.yaml --
- {reply: ` + yes + `, validator: j}
- {reply: hm, validator: j, times: 3}
- {reply: ` + yes + `, validator: j, times: 2}
- {reply: ok, phase: p}`,
		"a judge of every item": `phases: [{name: p, each: {in: [a, b], max_parallel: 1}, instructions: x, wards: {post: [{judge: kind, name: j}]}}]
-- script.yaml --
- {reply: hm, validator: j, times: 3}
- {reply: ` + yes + `, validator: j, times: 2}
- {reply: ok, phase: p, times: 2}`,
		"a tool that is not there": `phases: [{name: p, instructions: x}]
-- script.yaml --
- {tool_calls: [{name: add, arguments: {}}], phase: p}
- {reply: ok, phase: p}`,
		"a cascade that judges": `phases: [{name: p, instructions: x, wards: {post: [{cascade: sub.yaml}]}}]
-- sub.yaml --
cascade_id: sub
phases: [{name: s, instructions: y}]
-- script.yaml --
- {reply: hm, phase: s}
- {reply: ` + yes + `, phase: s}
- {reply: ok, phase: p}`,
		"an evaluator": `phases: [{name: p, instructions: x, soundings: {factor: 2, max_parallel: 1, evaluator_instructions: best}}]
-- script.yaml --
- {reply: hm, role: evaluator, times: 3}
- {reply: '{"winner": 1, "reason": "r"}', role: evaluator}
- {reply: ok, phase: p, times: 2}`,
		"a filter": `phases: [{name: p, instructions: x, soundings: {factor: 2, max_parallel: 1, validator: {judge: kind, name: j}}}]
-- script.yaml --
- {reply: hm, validator: j, times: 6}
- {reply: ` + yes + `, validator: j, times: 2}
- {reply: ok, phase: p, times: 2}`,
		"a choice": `phases: [{name: p, instructions: x, handoffs: [{target: q, description: a}, {target: end, description: b}]}, {name: q, compose: y}]
-- script.yaml --
- {reply: ok, phase: p, times: 2}
- {tool_calls: [{name: route_to, arguments: {target: q}}], phase: p}`,
		"within": `phases: [{name: p, sub_cascades: [{ref: sub.yaml}], instructions: x, wards: {post: [{cascade: sub.yaml}]}}]
-- sub.yaml --
cascade_id: sub
phases: [{name: s, instructions: y, wards: {post: [{judge: kind, name: j}]}}, {name: v, compose: '{"valid": true, "reason": "r"}'}]
-- script.yaml --
- {reply: hm, validator: j, times: 3}
- {reply: ` + yes + `, validator: j, times: 1}
- {reply: hm, validator: j, times: 3}
- {reply: ` + yes + `, validator: j, times: 1}
- {reply: ok, phase: s, times: 2}
- {reply: ok, phase: p}`,
	} {
		for _, anew := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", as a new run: ", anew), func(t *testing.T) {
				j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
				s := storyOf(t, "-- cascade.yaml --\ncascade_id: c\n"+text+"\n")
				script := s.Script(t)
				r := runnerOver(t, j, struct{ model.Model }{script}) // the script is not rewound
				result, err := r.Run(t.Context(), s.Cascade, nil, runner.WithRunID("run0"))
				for start := 0; err != nil && start < 2; start++ {
					last := fmt.Sprint("run", start)
					switch {
					case result.Status != engine.Failed:
						t.Fatalf("it %s: %v", result.Status, err)
					case anew:
						result, err = r.Run(t.Context(), s.Cascade, nil, runner.WithRunID(fmt.Sprint("run", start+1)), runner.WithParent(last, ""))
					default:
						result, err = r.Resume(t.Context(), "run0")
					}
				}
				if left := script.Left(); err != nil || len(left) > 0 {
					t.Errorf("it %s: %v; not asked for: %v", result.Status, err, left)
				}
			})
		}
	}
}

// The cost of earlier starts counts, even if a later start does not reach those
// branches.
func TestSpentIsSpent(t *testing.T) {
	onFile(t)
	const sub = `
-- sub.yaml --
cascade_id: sub
inputs_schema: {x: what}
phases: [{name: draft, instructions: "Draft {{ input.x }}", human_input: {prompt: "Good?"}}]
`
	const each = `cascade_id: c
phases: [{name: p, each: {in: [a, b, c], max_parallel: 1}, sub_cascades: [{ref: sub.yaml, input_map: {x: "{{ item }}"}}], instructions: "Write {{ item }}"}]
`
	for name, c := range map[string]struct {
		budget string
		answer bool
		status string
		calls  int
	}{
		"it ends with the first": {"", false, engine.Blocked, 3},
		"all is spent":           {"budget: {max_calls: 3}\n", true, engine.OverBudget, 3},
		"money":                  {"budget: {max_cost_usd: 1.5}\n", true, engine.OverBudget, 3},
		"one is left":            {"budget: {max_calls: 4}\n", true, engine.Waiting, 4},
		"all is spent within":    {"within: {max_calls: 3}\n", true, engine.OverBudget, 3},
		"one is left within":     {"within: {max_calls: 4}\n", true, engine.Waiting, 4},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			m := &says{answers: map[string]string{"Draft": "a", "Write": "b"}}
			r := runnerOver(t, j, m)
			text := c.budget + each
			if inner, ok := strings.CutPrefix(c.budget, "within: "); ok {
				text = "cascade_id: outer\nphases: [{name: m, sub_cascades: [{ref: mid.yaml}], compose: x}]\n-- mid.yaml --\nbudget: " + inner + each
			}
			cascade := storyOf(t, "-- cascade.yaml --\n"+text+sub).Cascade
			if result, _ := r.Run(t.Context(), cascade, nil, runner.WithRunID("run")); result.Status != engine.Waiting || result.Usage.Calls != 3 {
				t.Fatalf("it %s with %+v", result.Status, result.Usage)
			}
			run, err := j.Run(t.Context(), "run")
			if err != nil || len(run.Pending) != 3 {
				t.Fatalf("got %+v, %v", run, err)
			}
			if err := j.Answer(t.Context(), "run", run.Pending[0].Path, engine.Answer{Value: c.answer}); err != nil {
				t.Fatal(err)
			}
			result, _ := r.Resume(t.Context(), "run")
			if result.Status != c.status || result.Usage.Calls != c.calls || len(m.calls) != c.calls || result.Usage.CostUSD != float64(c.calls)/2 {
				t.Errorf("it %s with %+v, asked %v", result.Status, result.Usage, m.calls)
			}
		})
	}
}

// The cost of a run is that of all its starts, and its budgets limit the total:
// failed, interrupted and repeated calls count.
func TestBudgetOverStarts(t *testing.T) {
	onFile(t)
	const down = "- {error: {status: 400, message: down}, phase: "
	const within = `phases: [{name: m, sub_cascades: [{ref: mid.yaml}], compose: x}]
-- mid.yaml --
cascade_id: mid
`
	for name, c := range map[string]struct {
		text   string
		status string
		calls  int // of all starts
	}{
		"what was down": {`budget: {max_calls: 1}
phases: [{name: p, instructions: x}]
-- script.yaml --
` + down + "p}\n- {reply: ok, phase: p}", engine.OverBudget, 1},
		"one is left for what was down": {`budget: {max_calls: 2}
phases: [{name: p, instructions: x}]
-- script.yaml --
` + down + "p}\n- {reply: ok, phase: p}", engine.Succeeded, 2},
		"what is heard again needs none": {`budget: {max_calls: 3}
phases: [{name: p, instructions: x}, {name: q, instructions: x}]
-- script.yaml --
- {reply: ok, phase: p}
` + down + "q}\n- {reply: ok, phase: q}", engine.Succeeded, 3},
		"within": {within + `budget: {max_calls: 2}
phases: [{name: p, instructions: x}, {name: q, instructions: x}]
-- script.yaml --
- {reply: ok, phase: p}
` + down + "q}\n- {reply: ok, phase: q}", engine.OverBudget, 2},
		"one is left within": {within + `budget: {max_calls: 3}
phases: [{name: p, instructions: x}, {name: q, instructions: x}]
-- script.yaml --
- {reply: ok, phase: p}
` + down + "q}\n- {reply: ok, phase: q}", engine.Succeeded, 3},
		"what is asked otherwise": {`phases: [{name: p, instructions: x, tackle: [sub.yaml], wards: {post: [{judge: kind, name: j}]}}]
-- sub.yaml --
cascade_id: sub
phases: [{name: s, instructions: y}]
-- script.yaml --
- {tool_calls: [{name: sub, arguments: {}}], phase: p}
` + down + `s}
- {reply: sorry, phase: p}
- {reply: hm, validator: j, times: 3}
- {reply: fine, phase: s}
- {reply: ok, phase: p}
- {reply: '{"valid": true, "reason": "r"}', validator: j}`, engine.Succeeded, 9},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			s := storyOf(t, "-- cascade.yaml --\ncascade_id: c\n"+c.text+"\n")
			r := runnerOver(t, j, struct{ model.Model }{s.Script(t)}) // the script is not rewound
			if result, _ := r.Run(t.Context(), s.Cascade, nil, runner.WithRunID("run")); result.Status != engine.Failed {
				t.Fatalf("it %s: %v", result.Status, result.Error)
			}
			result, _ := r.Resume(t.Context(), "run")
			if result.Status != c.status || result.Usage.Calls != c.calls {
				t.Errorf("it %s with %d calls, want %s with %d: %v", result.Status, result.Usage.Calls, c.status, c.calls, result.Error)
			}
		})
	}
}

// A call that was interrupted by the failure of another branch counts in later
// starts too.
func TestCutOffIsSpent(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	begun, up := make(chan bool), false
	m := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		usage := model.Usage{Calls: 1, InputTokens: 10, CostUSD: 0.5}
		switch {
		case up:
		case r.Phase == "a":
			<-begun
			return model.Response{Usage: usage}, &model.Failure{Class: model.Unavailable, Message: "down"}
		default:
			close(begun)
			<-ctx.Done()
			return model.Response{Usage: usage}, ctx.Err()
		}
		return model.Response{Text: "ok", Usage: usage}, nil
	})
	r := runnerOver(t, j, m)
	c := load(t, "cascade_id: c\nphases: [{name: p, together: [{name: a, instructions: x}, {name: b, instructions: x}]}]")
	if result, _ := r.Run(t.Context(), c, nil, runner.WithRunID("run")); result.Status != engine.Failed || result.Usage.Calls != 2 {
		t.Fatalf("it %s with %+v", result.Status, result.Usage)
	}
	loseProcess(t, j, reopen(t, j, "run"))
	if s, err := j.Run(t.Context(), "run"); err != nil || s.Usage.Calls != 2 || s.Usage.CostUSD != 1 {
		t.Errorf("once it is begun again: %+v, %v", s.Usage, err)
	}
	up = true
	result, err := r.Resume(t.Context(), "run")
	if err != nil || result.Usage.Calls != 4 || result.Usage.CostUSD != 2 {
		t.Errorf("it %s with %+v, %v", result.Status, result.Usage, err)
	}
}

// After a timeout nothing is asked again, so no budget prevents the resume.
func TestOutOfTimeIsSpent(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		if r.Phase == "p" {
			<-ctx.Done()
		}
		return model.Response{Text: "ok", Usage: model.Usage{Calls: 1}}, ctx.Err()
	})
	r := runnerOver(t, j, m)
	c := load(t, `cascade_id: c
budget: {max_calls: 2}
phases:
  - {name: p, instructions: x, rules: {timeout: 20ms, on_error: q}}
  - {name: q, instructions: x}
  - {name: r, compose: x, human_input: {prompt: "Good?"}}
`)
	if result, _ := r.Run(t.Context(), c, nil, runner.WithRunID("run")); result.Status != engine.Waiting || result.Usage.Calls != 2 {
		t.Fatalf("it %s with %+v", result.Status, result.Usage)
	}
	if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
		t.Fatal(err)
	}
	if result, err := r.Resume(t.Context(), "run"); err != nil || result.Usage.Calls != 2 {
		t.Errorf("it %s with %+v, %v", result.Status, result.Usage, err)
	}
	late := load(t, "cascade_id: late\nphases: [{name: p, instructions: x, rules: {timeout: 20ms}}]")
	result, _ := r.Run(t.Context(), late, nil, runner.WithRunID("late"))
	for start := range 3 {
		if result.Status != engine.Failed || result.Usage.Calls != start+1 {
			t.Errorf("start %d: it %s with %+v: %v", start, result.Status, result.Usage, result.Error)
		}
		loseProcess(t, j, reopen(t, j, "late"))
		if s, err := j.Run(t.Context(), "late"); err != nil || s.Usage.Calls != start+1 {
			t.Errorf("start %d, once it goes on: %v", start, err)
		}
		result, _ = r.Resume(t.Context(), "late")
	}
}

// A timeout has the same result after each resume, with the same checks before
// it, and is emitted once.
func TestOutOfTimeIsTheSame(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		if r.Turn > 0 {
			<-ctx.Done()
		}
		return model.Response{Text: "ok", Usage: model.Usage{Calls: 1}}, ctx.Err()
	})
	r := runnerOver(t, j, m)
	c := load(t, `cascade_id: c
phases:
  - name: p
    instructions: x
    rules: {max_turns: 3, loop_until: {expr: "len(content) > 9"}, timeout: 50ms, on_error: q}
  - {name: q, compose: x, human_input: {prompt: "Good?"}}
  - {name: r, compose: x, human_input: {prompt: "Good?"}}
`)
	first, _ := r.Run(t.Context(), c, nil, runner.WithRunID("run"))
	for _, want := range []string{engine.Waiting, engine.Succeeded} { // in the same process, and later
		if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
			t.Fatal(err)
		}
		result, err := r.Resume(t.Context(), "run")
		if result.Status != want || asJSON(t, result.Phases[0]) != asJSON(t, first.Phases[0]) || asJSON(t, result.Verdicts) != asJSON(t, first.Verdicts) {
			t.Errorf("it %s, %v:\n%s\nwas\n%s", result.Status, err, asJSON(t, result), asJSON(t, first))
		}
		if s, err := j.Run(t.Context(), "run"); err != nil || s.Phases != 3 {
			t.Errorf("%d phases have finished, %v", s.Phases, err)
		}
	}
	reported := map[string]int{}
	for _, e := range eventsOf(t, j, "run", Brief) {
		at := string(e.Kind) + " " + string(e.Path)
		if reported[at]++; strings.HasPrefix(string(e.Path), "p") && reported[at] > 1 {
			t.Errorf("%s is reported again", at)
		}
	}
}

// Only a run whose result cannot change has ended finally.
func TestEnded(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for i, c := range []struct {
		status, code string
		want         bool
	}{
		{engine.Succeeded, "", true}, {engine.Blocked, engine.Blocked, true}, {engine.Exhausted, engine.Exhausted, true},
		{engine.OverBudget, engine.OverBudget, true}, {engine.Failed, engine.Invalid, true},
		{engine.Failed, engine.Failed, false}, {engine.Waiting, engine.Waiting, false}, {engine.Cancelled, engine.Cancelled, false},
	} {
		id := string(rune('a' + i))
		r := begin(t, j, runner.Start{RunID: id, CascadeID: "c"})
		result := engine.Result{RunID: id, CascadeID: "c", Status: c.status}
		var cause *engine.Error
		if c.code != "" {
			cause = &engine.Error{Code: c.code, Message: "m"}
			result.Error = &event.Error{Code: c.code, Message: "m"}
		}
		if err := r.End(result, cause); err != nil {
			t.Fatal(err)
		}
		if err := r.End(engine.Result{Status: "nonsense"}, nil); err != nil {
			t.Fatal(err)
		}
		again := reopen(t, j, id)
		got, ended := again.Ended()
		if ended != c.want || ended && (got.Status != c.status || got.RunID != id) {
			t.Errorf("%s %s: ended %v, %+v", c.status, c.code, ended, got)
		}
		if !ended {
			if err := again.End(result, cause); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A run belongs to one process at a time.
func TestBusy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	a, b := journalAt(t, file, Options{}), journalAt(t, file, Options{})
	r := begin(t, a, runner.Start{RunID: "run"})
	if _, err := a.Begin(runner.Start{RunID: "run"}); !errors.Is(err, runner.ErrRunExists) {
		t.Errorf("begin again: %v", err)
	}
	for _, j := range []*Journal{a, b} {
		if _, err := j.Reopen("run"); !errors.Is(err, runner.ErrRunBusy) {
			t.Errorf("reopen: %v", err)
		}
		if _, err := j.Reopen("none"); !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("reopen none: %v", err)
		}
		if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); !errors.Is(err, runner.ErrRunBusy) || !errors.Is(err, runner.ErrAnswered) {
			t.Errorf("answer: %v", err)
		}
		if s, err := j.Run(t.Context(), "run"); err != nil || s.Status != Running || s.Finished != nil {
			t.Errorf("got %+v, %v", s, err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := b.Run(t.Context(), "run")
	if err != nil || s.Status != engine.Cancelled || !strings.Contains(s.Error.Message, "resume run") {
		t.Errorf("got %+v, %v", s, err)
	}
	if list, err := b.Runs(t.Context(), Filter{Status: engine.Cancelled}); err != nil || len(list) != 1 {
		t.Errorf("cancelled runs: %v, %v", list, err)
	}
	if list, err := b.Runs(t.Context(), Filter{Status: Running}); err != nil || len(list) != 0 {
		t.Errorf("running runs: %v, %v", list, err)
	}
	again := reopen(t, b, "run")
	if err := again.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.End(engine.Result{}, nil); err == nil {
		t.Error("a run was ended in a journal that is closed")
	}
}

// If the clock goes back, events stay in order, and the elapsed time is that of
// the run's own starts.
func TestClock(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	o := Options{Now: func() time.Time { return at }}
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), o)
	var live collector
	sink := &passing{quick{}, &live}
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(sink)
	for _, jump := range []time.Duration{time.Minute, -time.Hour, 30 * time.Minute, 2 * time.Hour} {
		at = at.Add(jump)
		h.Emit(event.Event{Kind: event.Feedback, Path: "p", Message: jump.String()})
	}
	if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	for i, e := range live.events {
		if i > 0 && e.Time.Before(live.events[i-1].Time) {
			t.Errorf("event %d is dated %v, after %v", i+1, e.Time, live.events[i-1].Time)
		}
	}
	at = at.Add(24 * time.Hour)
	again := reopen(t, j, "run")
	if got := again.Start().Elapsed; got != 90*time.Minute+time.Minute+0 {
		t.Errorf("elapsed %v", got)
	}
	at = at.Add(-100 * time.Hour)
	again.Host(sink).Emit(event.Event{Kind: event.Feedback, Path: "p", Message: "later"})
	if last := live.events[len(live.events)-1]; last.Seq != 5 || last.Time.Before(live.events[3].Time) {
		t.Errorf("got %+v", last)
	}
}

// passing sends events to a sink.
type passing struct {
	quick
	sink event.Sink
}

func (p *passing) Emit(e event.Event) { p.sink.Emit(e) }

// A run whose requests have changed cannot be resumed.
func TestAnotherQuestion(t *testing.T) {
	for at, ask := range map[event.Path]func(engine.Host, event.Path, string) error{
		"p/model": func(h engine.Host, at event.Path, text string) error {
			_, err := h.Model(at, model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: text}}})
			return err
		},
		"p/tool[0]": func(h engine.Host, at event.Path, text string) error {
			_, err := h.Tool(at, engine.Job{Call: tool.Call{Name: "t", Arguments: map[string]any{"said": text}}})
			return err
		},
		"p/post[0]": func(h engine.Host, at event.Path, text string) error {
			_, err := h.Validate(at, engine.Validation{Validator: "v", Subject: validators.Subject{Content: text}})
			return err
		},
	} {
		t.Run(string(at), func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			r := begin(t, j, runner.Start{RunID: "run"})
			if err := ask(r.Host(quick{"yes"}), at, "this"); err != nil {
				t.Fatal(err)
			}
			if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
				t.Fatal(err)
			}
			h := reopen(t, j, "run").Host(quick{"yes"})
			if err := ask(h, at, "this"); err != nil {
				t.Fatal(err)
			}
			err := ask(h, at, "that")
			var e *engine.Error
			if !errors.As(err, &e) || e.Code != engine.Failed || e.Path != at || !strings.HasPrefix(e.Message, "journal: "+string(at)+": the request differs") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A timeout stays a timeout after each resume.
func TestTimeoutIsKept(t *testing.T) {
	onFile(t)
	for name, c := range map[string]struct{ rules, budget, want string }{
		"the run":             {"", "max_seconds: 60", engine.OverBudget},
		"the attempt":         {"rules: {timeout: 60s}, ", "max_calls: 9", engine.Failed},
		"the run, in another": {"rules: {timeout: 2h}, ", "max_seconds: 60", engine.OverBudget},
		"the attempt, within": {"rules: {timeout: 60s}, ", "max_seconds: 3600", engine.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			file, s := filepath.Join(t.TempDir(), "j.db"), storyOf(t, `
-- cascade.yaml --
cascade_id: slow
budget: {`+c.budget+`}
phases:
  - {name: one, instructions: One.}
  - {name: two, `+c.rules+`instructions: Two.}
`)
			synctest.Test(t, func(t *testing.T) {
				j := journalAt(t, file, Options{})
				calls := 0
				m := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
					if calls++; r.Phase == "two" {
						<-ctx.Done()
						return model.Response{}, ctx.Err()
					}
					return model.Response{Text: "one"}, nil
				})
				r := runnerOver(t, j, m)
				result, err := s.run(t, begin(t, j, s.start("run")), r.Host(t.Context()), false)
				if result.Status != c.want {
					t.Fatalf("got %+v, %v", result, err)
				}
				timedOut := 0
				for e := range j.Effects(t.Context(), "run") {
					if e.TimedOut {
						timedOut++
					}
				}
				if timedOut != 1 {
					t.Errorf("%d time limits were kept", timedOut)
				}
				j.Close()
				j = journalAt(t, file, Options{})
				again, err := s.run(t, reopen(t, j, "run"), r.Host(t.Context()), false)
				if asJSON(t, again) != asJSON(t, result) || calls != 2 {
					t.Errorf("got %+v, %v after %d calls", again, err, calls)
				}
			})
		})
	}
}

// After repeated failures a pure validator checks again, because the text may differ.
// An impure validator runs again only for a changed subject.
func TestPureJudgesAnew(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	says := func(reason string) engine.Host { return verdicts{quick{}, reason} }
	judge := func(h engine.Host, content string) (pure, slow string) {
		t.Helper()
		v := engine.Validation{Validator: "v", Pure: true, Subject: validators.Subject{Content: content}}
		a, err := h.Validate("p/attempt[1]/post[0]", v)
		v.Pure = false
		b, e := h.Validate("p/attempt[1]/post[1]", v)
		if err := errors.Join(err, e); err != nil {
			t.Fatal(err)
		}
		return a.Verdict.Reason, b.Verdict.Reason
	}
	r := begin(t, j, runner.Start{RunID: "run"})
	judge(r.Host(says("first")), "a text")
	if _, err := r.Host(verdicts{quick{}, ""}).Validate("p/attempt[1]/post[2]", engine.Validation{Validator: "broken"}); err != nil {
		t.Fatal(err)
	}
	cause := &engine.Error{Code: engine.Failed, Path: "p", Message: "m"}
	if err := r.End(engine.Result{Status: engine.Failed}, cause); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"a text", "another text"} {
		r = reopen(t, j, "run")
		pure, slow := judge(r.Host(says("again: "+content)), content)
		want := map[string]string{"a text": "first", "another text": "again: another text"}[content]
		if pure != "again: "+content || slow != want {
			t.Errorf("%s: the pure one says %s, the slow one %s", content, pure, slow)
		}
		if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(effectsOf(t, j, "run")); n != 2 {
		t.Errorf("%d effects are stored", n)
	}
}

// verdicts is a host whose validators all return the same verdict, or fail for
// "".
type verdicts struct {
	quick
	reason string
}

func (v verdicts) Validate(event.Path, engine.Validation) (engine.Finding, error) {
	if v.reason == "" {
		return engine.Finding{Failure: "it broke"}, nil
	}
	return engine.Finding{Verdict: validators.Pass("%s", v.reason)}, nil
}
