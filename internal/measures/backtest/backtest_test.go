package backtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// The tests allocate much and keep little of it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// A store is a source of the runs of a test.
type store struct {
	ids    []string
	events map[string][]event.Event
	broken error
	quick  bool // events come as the process had them, not as a file has them
}

func (s *store) source() backtest.Source { return backtest.Source{Runs: s.ids, Events: s.read} }

func (s *store) read(_ context.Context, run string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if s.broken != nil {
			yield(event.Event{}, s.broken)
			return
		}
		for _, e := range s.events[run] {
			var err error
			if !s.quick {
				var text []byte
				if text, err = e.MarshalJSON(); err == nil {
					err = e.UnmarshalJSON(text)
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

type files map[string]string

func (f files) read(name string) ([]byte, error) {
	if text, ok := f[name]; ok {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

var known = cascades.Known{
	Tools: tool.NewSet(tool.New("add", "Add.", func(_ context.Context, a struct {
		A int `json:"a"`
		B int `json:"b"`
	}) (any, error) {
		return map[string]any{"sum": a.A + a.B}, nil
	})),
	Validators: builtins.Default().With(
		validators.New("slow", "says no of a text with an x, but is not pure", func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
			if strings.Contains(s.Content, "x") {
				return validators.Fail("an x"), nil
			}
			return validators.Pass("no x"), nil
		}, validators.Impure),
		validators.New("crashes", "cannot say", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
			return validators.Verdict{}, errors.New("it crashed")
		})),
}

func load(t *testing.T, f files) *cascades.Cascade {
	t.Helper()
	c, err := cascades.Load("cascade.yaml", f.read, known)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// host returns a host that answers from a script.
func host(t *testing.T, script string, sink event.Sink, answers ...any) engine.Host {
	t.Helper()
	m, err := scripted.Parse("script.yaml", []byte(script), nil)
	if err != nil {
		t.Fatal(err)
	}
	options := []runner.Option{runner.WithModel(m), runner.WithAsk(func(context.Context, engine.Question) (engine.Answer, error) {
		a := answers[0]
		answers = answers[1:]
		return engine.Answer{Value: a}, nil
	})}
	if sink != nil {
		options = append(options, runner.WithSink(sink))
	}
	r, err := runner.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	return storytest.Serial{Host: r.Host(t.Context())}
}

// record runs a cascade and stores its events.
func (s *store) record(t *testing.T, f files, script string, input map[string]any, answers ...any) engine.Result {
	t.Helper()
	if s.events == nil {
		s.events = map[string][]event.Event{}
	}
	id := fmt.Sprintf("run%d", len(s.ids)+1)
	s.ids = append(s.ids, id)
	h := host(t, script, event.Func(func(e event.Event) { s.events[id] = append(s.events[id], e) }), answers...)
	r, _ := engine.Run(h, load(t, f), engine.State{RunID: id, Input: input})
	return r
}

func (s *store) test(t *testing.T, f files) backtest.Test {
	t.Helper()
	return backtest.Test{Cascade: load(t, f), Host: host(t, "[]", nil), Source: s.source()}
}

func run(t *testing.T, test backtest.Test) *backtest.Result {
	t.Helper()
	r, err := test.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rows returns the counts of each check, except empty ones.
func rows(r *backtest.Result) map[string]backtest.Counts {
	list := map[string]backtest.Counts{}
	for _, row := range r.Wards {
		if row.Counts != (backtest.Counts{}) {
			list[row.Phase+" "+row.Moment+" "+row.Validator] = row.Counts
		}
	}
	return list
}

// moves returns each attempt change as a line.
func moves(r *backtest.Result) []string {
	var list []string
	for _, m := range r.AttemptChanges {
		list = append(list, fmt.Sprintf("%s %s: %s → %s by %s -%d +%d", m.Run, m.Path, m.Before, m.After, m.By, m.Saved, m.Added))
	}
	return list
}

type counts = backtest.Counts

func check(t *testing.T, r *backtest.Result, want map[string]counts, wantMoves ...string) {
	t.Helper()
	if got := rows(r); !reflect.DeepEqual(got, want) {
		t.Errorf("checks: got %+v\nwant %+v", got, want)
	}
	if got := moves(r); strings.Join(got, "\n") != strings.Join(wantMoves, "\n") {
		t.Errorf("moves: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantMoves, "\n"))
	}
}

func one(wards string) files {
	return files{"cascade.yaml": "cascade_id: c\nphases:\n- name: draft\n  instructions: Write.\n" + wards + "\n- {name: next, instructions: Go on.}\n"}
}

const length = "  wards: {post: [{validator: min_length, with: {min: %d}, mode: retry, max_attempts: 3}]}"

const tries = `
- {phase: draft, reply: ab}
- {phase: draft, reply: abcd}
- {phase: draft, reply: abcdef}
- {phase: next, reply: end}
`

// three returns a run with three attempts, of 2, 4 and 6 characters.
func three(t *testing.T) *store {
	s := &store{}
	if r := s.record(t, one(fmt.Sprintf(length, 5)), tries, nil); r.Status != "succeeded" || r.Usage.Calls != 4 {
		t.Fatalf("got %+v", r)
	}
	return s
}

func TestNothingChanged(t *testing.T) {
	s := three(t)
	r := run(t, s.test(t, one(fmt.Sprintf(length, 5))))
	check(t, r, map[string]counts{"draft post min_length": {Same: 3}})
	if !r.Same() || r.Attempts != 4 || r.Runs != 1 || r.Saved != 0 || r.Added != 0 {
		t.Errorf("got %+v", r)
	}
}

// A stricter ward would send back the released text, which costs at least one more attempt.
func TestStricter(t *testing.T) {
	s := three(t)
	r := run(t, s.test(t, one(fmt.Sprintf(strings.Replace(length, "3}", "4}", 1), 7))))
	check(t, r, map[string]counts{"draft post min_length": {Same: 2, NowFails: 1}},
		"run1 draft/attempt[3]: released → retried by post min_length -0 +1")
	c := r.Changes[0]
	if r.Same() || c.Run != "run1" || c.Path != "draft/attempt[3]" || c.Before != backtest.Pass || c.After != backtest.Fail || c.Text != "abcdef" || !strings.Contains(c.AfterReason, "7") {
		t.Errorf("got %+v", c)
	}
	// With the same budget, the run would have ended as exhausted.
	r = run(t, s.test(t, one(fmt.Sprintf(length, 7))))
	check(t, r, map[string]counts{"draft post min_length": {Same: 2, NowFails: 1}},
		"run1 draft/attempt[3]: released → exhausted by post min_length -1 +0")
	if r.CountAfter(backtest.NotMade) != 1 || r.Saved != 1 {
		t.Errorf("got %+v", r)
	}
}

// A looser ward releases earlier and saves the calls of later attempts.
func TestLooser(t *testing.T) {
	s := three(t)
	r := run(t, s.test(t, one(fmt.Sprintf(length, 2))))
	check(t, r, map[string]counts{"draft post min_length": {Same: 1, NowPasses: 2}},
		"run1 draft/attempt[1]: retried → released by  -2 +0")
	if r.CountAfter(backtest.NotMade) != 2 || r.Saved != 2 {
		t.Errorf("got %+v", r)
	}
}

// A blocking ward ends the run at the first attempt.
func TestBlocking(t *testing.T) {
	s := three(t)
	r := run(t, s.test(t, one("  wards: {post: [{validator: min_length, with: {min: 5}}]}")))
	check(t, r, map[string]counts{"draft post min_length": {Same: 3}},
		"run1 draft/attempt[1]: retried → blocked by post min_length -3 +0")
	if r.CountAfter(backtest.Blocked) != 1 || r.Saved != 3 || r.Same() {
		t.Errorf("got %+v", r)
	}
}

// Removed and new wards are not changed verdicts.
func TestRemovedAndNew(t *testing.T) {
	s := three(t)
	r := run(t, s.test(t, one("  wards: {post: [{validator: excludes, with: {text: cd}, mode: advisory}]}")))
	check(t, r, map[string]counts{"draft post min_length": {Removed: 3}, "draft post excludes": {NewFail: 2, NewPass: 1}},
		"run1 draft/attempt[1]: retried → released by  -2 +0")
	if len(r.Changes) != 2 || r.Changes[0].Kind != backtest.New {
		t.Errorf("got %+v", r.Changes)
	}
}

// Two checks of one validator are distinguished by their order.
func TestTwoOfAName(t *testing.T) {
	s := &store{}
	two := `  wards: {post: [{expr: "len(content) > %d", reason: a, mode: advisory}, {expr: "len(content) < %d", reason: b, mode: advisory}]}`
	s.record(t, one(fmt.Sprintf(two, 2, 4)), tries, nil) // "ab": no, yes
	r := run(t, s.test(t, one(fmt.Sprintf(two, 1, 2))))  // yes, no
	check(t, r, map[string]counts{"draft post expr": {NowPasses: 1, NowFails: 1}})
	var words strings.Builder
	if err := r.Report().Write(&words, "text"); err != nil || strings.Count(words.String(), "post expr len(content) > 1 | len(content) < 2") != 3 {
		t.Errorf("a check without a name is not reported by its text: %v\n%s", err, words.String())
	}
}

// Wards of a schema, a loop and turns are compared at their moments.
func TestMoments(t *testing.T) {
	const shape = `cascade_id: c
validators: {many: {expr: "len(content) > %d", reason: more}}
phases:
- name: draft
  instructions: Write.
  rules: {max_turns: 2, loop_until: many, max_attempts: 3}
  output_schema: {type: object, required: [%s]}
  wards: {turn: [{validator: contains, with: {text: %s}, mode: retry, max_attempts: 2}], pre: [{validator: contains, with: {text: %s}}]}
`
	made := files{"cascade.yaml": fmt.Sprintf(shape, 8, "a", "a", "Write")}
	s := &store{}
	res := s.record(t, made, `
- {phase: draft, reply: '{}'}
- {phase: draft, reply: '{"a": 1}'}
- {phase: draft, reply: '{"a": 12, "b": 1}'}
`, nil)
	if res.Status != "succeeded" || res.Phases[0].Turns != 2 {
		t.Fatalf("%+v %+v", res.Phases, res.Error)
	}
	check(t, run(t, s.test(t, made)), map[string]counts{
		"draft pre contains": {Same: 1}, "draft turn contains": {Same: 3}, "draft output_schema output_schema": {Same: 1}, "draft loop_until many": {Same: 2}})
	// Each verdict changes.
	r := run(t, s.test(t, files{"cascade.yaml": fmt.Sprintf(shape, 7, "c", "b", "Write")}))
	check(t, r, map[string]counts{
		"draft pre contains": {Same: 1}, "draft turn contains": {Same: 2, NowFails: 1}, "draft output_schema output_schema": {NowFails: 1}, "draft loop_until many": {Same: 1, NowPasses: 1}},
		"run1 draft/attempt[1]: released → exhausted by turn contains -1 +0")
	r = run(t, s.test(t, files{"cascade.yaml": fmt.Sprintf(shape, 8, "a", "a", "nothing")}))
	check(t, r, map[string]counts{
		"draft pre contains": {NowFails: 1}, "draft turn contains": {Same: 3}, "draft output_schema output_schema": {Same: 1}, "draft loop_until many": {Same: 2}},
		"run1 draft: released → blocked by pre contains -3 +0")
	if r.CountAfter(backtest.NotMade) != 1 {
		t.Errorf("got %+v", r.Outcomes)
	}
}

// A turn that would have been accepted saves the repeated turns.
func TestTurnLooser(t *testing.T) {
	const ward = "  wards: {turn: [{validator: min_length, with: {min: %d}, mode: retry, max_attempts: %d}]}"
	s := &store{}
	s.record(t, one(fmt.Sprintf(ward, 5, 3)), tries, nil)
	r := run(t, s.test(t, one(fmt.Sprintf(ward, 4, 3))))
	check(t, r, map[string]counts{"draft turn min_length": {Same: 2, NowPasses: 1}})
	if r.Saved != 1 || r.Changes[0].Path != "draft/attempt[1]/turn[0]/redo[1]" || r.Changes[0].Text != "abcd" {
		t.Errorf("saved %d: %+v", r.Saved, r.Changes)
	}
	r = run(t, s.test(t, one(fmt.Sprintf(ward, 7, 4))))
	check(t, r, map[string]counts{"draft turn min_length": {Same: 2, NowFails: 1}},
		"run1 draft/attempt[1]: released → retried by turn min_length -0 +1")
	r = run(t, s.test(t, one(fmt.Sprintf(ward, 5, 2)))) // it would have given up
	check(t, r, map[string]counts{"draft turn min_length": {Same: 3}},
		"run1 draft/attempt[1]: released → exhausted by turn min_length -1 +0")
	if r.Saved != 2 {
		t.Errorf("saved %d", r.Saved)
	}
}

// The next phase gets the reason for which a phase was left.
func TestLeftFor(t *testing.T) {
	const text = `cascade_id: c
phases:
- {name: a, instructions: x, rules: {on_exhausted: b}, wards: {post: [{validator: contains, with: {text: owl}, mode: retry, max_attempts: 1}]}}
- {name: b, instructions: "{{ validation_error }}", wards: {pre: [{expr: "content startsWith 'contains: ' and content endsWith '{\"text\":\"owl\"}'", reason: why}]}}
`
	s := &store{}
	if r := s.record(t, files{"cascade.yaml": text}, "[{phase: a, reply: bat}, {phase: b, reply: end}]", nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	check(t, run(t, s.test(t, files{"cascade.yaml": text})), map[string]counts{"a post contains": {Same: 1}, "b pre expr": {Same: 1}})
}

// The next phase also gets an error. With on_error, the error does not end the run.
func TestBroke(t *testing.T) {
	const text = `cascade_id: c
phases:
- {name: a, instructions: x, rules: {on_error: b}, wards: {post: [{validator: crashes}]}}
- {name: b, instructions: "{{ validation_error }}", rules: {on_error: c}, wards: {pre: [{expr: "content == 'crashes: could not say'", reason: why}]}}
- {name: c, instructions: "{{ validation_error }}", wards: {pre: [{expr: "content startsWith 'model: rejected'", reason: why}]}}
`
	f := files{"cascade.yaml": text}
	s := &store{}
	if r := s.record(t, f, "[{phase: a, reply: bat}, {phase: b, error: {status: 400}}, {phase: c, reply: end}]", nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	check(t, run(t, s.test(t, f)), map[string]counts{"a post crashes": {Same: 1}, "b pre expr": {Same: 1}, "c pre expr": {Same: 1}})
	f["cascade.yaml"] = strings.Replace(text, "on_error: b", "on_error: fail", 1)
	plain := &store{}
	plain.record(t, files{"cascade.yaml": strings.Replace(text, "crashes", "non_empty", 1)}, "[{phase: a, reply: bat}, {phase: b, reply: x}]", nil)
	if got := moves(run(t, plain.test(t, f))); len(got) != 1 || !strings.Contains(got[0], "released → failed by post crashes") {
		t.Errorf("got %v", got)
	}
}

// A run that was blocked by a pre-ward would now make an attempt.
func TestPreLooser(t *testing.T) {
	s := &store{}
	s.record(t, one("  wards: {pre: [{validator: contains, with: {text: owl}}]}"), "[]", nil)
	r := run(t, s.test(t, one("")))
	check(t, r, map[string]counts{"draft pre contains": {Removed: 1}}, "run1 draft: blocked → released by  -0 +1")
	if r.Attempts != 0 {
		t.Errorf("got %+v", r)
	}
}

// Checks get the state of the run at each attempt.
func TestWhatTheRunKnew(t *testing.T) {
	const text = `cascade_id: c
phases:
- {name: plan, instructions: Plan., output_extraction: {pattern: "<n>(.*?)</n>", store_as: n}, tackle: [set_state], human_input: {prompt: 'Sure?', type: confirmation, store_as: sure}}
- {name: sum, tool: add, inputs: {a: 1, b: 2}}
- name: draft
  instructions: "Write with {{ outputs.plan }}"
  sub_cascades: [{ref: look.yaml}]
  wards:
    pre: [{expr: "content endsWith '</n>'", reason: pre}]
    post:
    - {expr: "state.n == '3' && state.mood == 2 && state.sure && state.deep == 'yes'", reason: state}
    - {expr: "outputs.plan == 'plan <n>3</n>' && outputs.sum.sum == 3 && outputs.look == 'looked' && input.who == 'me'", reason: outputs}
    - {expr: "attempt == 1 && turn == 0 && output.a == 1", reason: place}
- {name: gate, tool: min_length, inputs: {min: %d}, rules: {on_exhausted: closing}}
- name: closing
  instructions: "{{ lineage | length }} {{ validation_error }}"
  wards: {pre: [{expr: "content startsWith '4 ' && len(content) == 2", reason: short}]}
`
	f := func(min int) files {
		return files{"cascade.yaml": fmt.Sprintf(text, min), "look.yaml": "cascade_id: look\nphases: [{name: l, instructions: Look., tackle: [set_state]}]"}
	}
	s := &store{}
	res := s.record(t, f(3), `
- {phase: plan, tool_calls: [{name: set_state, arguments: {key: mood, value: 2}}]}
- {phase: plan, reply: plan <n>3</n>}
- {phase: l, tool_calls: [{name: set_state, arguments: {key: deep, value: "yes"}}]}
- {phase: l, reply: looked}
- {phase: draft, reply: '{"a": 1}'}
- {phase: closing, reply: end}
`, map[string]any{"who": "me"}, true)
	if res.Status != "succeeded" {
		t.Fatalf("%+v %+v", res.Error, res.Verdicts)
	}
	want := map[string]counts{"draft pre expr": {Same: 1}, "draft post expr": {Same: 3}, "gate post min_length": {Same: 1}, "closing pre expr": {Same: 1}}
	check(t, run(t, s.test(t, f(3))), want)
	want["gate post min_length"] = counts{NowFails: 1}
	check(t, run(t, s.test(t, f(30))), want, "run1 gate/attempt[1]: released → exhausted by post min_length -0 +0")
}

// Post-wards judge the winner of soundings, and the filter judges every sounding. Each sounding has
// its own state.
func TestSoundings(t *testing.T) {
	const text = `cascade_id: c
phases:
- name: line
  instructions: Write.
  tackle: [set_state]
  soundings: {factor: 2, validator: {expr: "len(content) < %d && (attempt > 1 || state.k == content)", reason: long}, evaluator_instructions: Pick.}
  wards: {post: [{expr: "content contains '%s' && state.k != nil", reason: bad, mode: retry, max_attempts: 2}]}
- {name: next, instructions: n, wards: {post: [{expr: "outputs.line != state.k && state.k == 'o'", reason: state}]}}
`
	f := func(n int, with string) files { return files{"cascade.yaml": fmt.Sprintf(text, n, with)} }
	s := &store{}
	res := s.record(t, f(9, "!"), `
- {phase: line, tool_calls: [{name: set_state, arguments: {key: k, value: owl}}]}
- {phase: line, reply: owl}
- {phase: line, tool_calls: [{name: set_state, arguments: {key: k, value: bat}}]}
- {phase: line, reply: bat}
- {role: evaluator, reply: '{"winner": 1}'}
- {phase: line, attempt: 2, tool_calls: [{name: set_state, arguments: {key: k, value: o}}]}
- {phase: line, attempt: 2, contains: owl, reply: owl!}
- {phase: line, attempt: 2, contains: bat, reply: bat!}
- {phase: next, reply: end}
`, nil)
	if res.Status != "succeeded" {
		t.Fatalf("%+v", res.Error)
	}
	want := map[string]counts{"line filter expr": {Same: 3}, "line post expr": {Same: 2}, "next post expr": {Same: 1}}
	check(t, run(t, s.test(t, f(9, "!"))), want)
	want["line post expr"] = counts{Same: 1, NowPasses: 1}
	r := run(t, s.test(t, f(9, "")))
	if got := rows(r); !reflect.DeepEqual(got, want) || len(r.AttemptChanges) != 1 || r.AttemptChanges[0].Saved != 2 || r.AttemptChanges[0].After != backtest.Released {
		t.Errorf("got %+v %+v", got, moves(r))
	}
	r = run(t, s.test(t, f(3, "!")))
	if got := rows(r)["line filter expr"]; got != (counts{NowFails: 3}) {
		t.Errorf("got %+v", got)
	}
}

// The state of a rejected sounding is dropped.
func TestSoundingsStates(t *testing.T) {
	const text = `cascade_id: c
phases:
- {name: line, instructions: Write., tackle: [set_state], soundings: {factor: 2}}
- {name: next, instructions: n, wards: {post: [{expr: "state.k == 'owl'", reason: state}]}}
`
	s := &store{}
	res := s.record(t, files{"cascade.yaml": text}, `
- {phase: line, tool_calls: [{name: set_state, arguments: {key: k, value: owl}}]}
- {phase: line, reply: owl}
- {phase: line, tool_calls: [{name: set_state, arguments: {key: k, value: bat}}]}
- {phase: line, reply: bat}
- {phase: next, reply: end}
`, nil)
	if res.Status != "succeeded" || res.Outputs["line"] != "owl" {
		t.Fatalf("%+v %+v", res.Error, res.Outputs)
	}
	check(t, run(t, s.test(t, files{"cascade.yaml": text})), map[string]counts{"next post expr": {Same: 1}})
	for wards, want := range map[string]string{
		"pre: [{validator: contains, with: {text: owl}}]":  "run1 line: released → blocked by pre contains -5 +0",
		"post: [{validator: contains, with: {text: bat}}]": "run1 line/sounding[0]/attempt[1]: released → blocked by post contains -1 +0",
	} {
		r := run(t, s.test(t, files{"cascade.yaml": strings.Replace(text, "{factor: 2}}", "{factor: 2}, wards: {"+wards+"}}", 1)}))
		if got := moves(r); len(got) != 1 || got[0] != want || r.CountAfter(backtest.NotMade) == 0 {
			t.Errorf("got %v, want %s; %+v", got, want, r.Outcomes)
		}
	}
	// The other sounding is still made.
	r := run(t, s.test(t, files{"cascade.yaml": strings.Replace(text, "{factor: 2}}", "{factor: 2}, wards: {turn: [{validator: contains, with: {text: bat}}]}}", 1)}))
	if got := moves(r); len(got) != 1 || got[0] != "run1 line/sounding[0]/attempt[1]: released → blocked by turn contains -0 +0" || r.CountAfter(backtest.NotMade) != 0 {
		t.Errorf("got %v; %+v", got, r.Outcomes)
	}
}

const judged = `cascade_id: c
validators: {tone: {judge: "%s"}}
phases: [{name: draft, instructions: Write., wards: {post: [{validator: tone, mode: retry, max_attempts: 2}]}}]
`

// Judges run on request. Otherwise the recorded verdict counts.
func TestJudges(t *testing.T) {
	f := files{"cascade.yaml": fmt.Sprintf(judged, "kind?")}
	s := &store{}
	s.record(t, f, `
- {phase: draft, reply: go}
- {validator: tone, reply: '{"valid": false, "reason": "rude"}'}
- {phase: draft, reply: please go}
- {validator: tone, reply: 'true'}
`, nil)
	test := s.test(t, files{"cascade.yaml": fmt.Sprintf(judged, "kinder?")})
	r := run(t, test)
	check(t, r, map[string]counts{"draft post tone": {NotRun: 2}})
	if r.Usage.Calls != 0 || !r.Same() {
		t.Errorf("got %+v", r)
	}
	test.Judges = true
	test.Host = host(t, `
- {validator: tone, contains: kinder, reply: 'true'}
- {validator: tone, contains: kinder, reply: 'true'}
`, nil)
	r = run(t, test)
	check(t, r, map[string]counts{"draft post tone": {Same: 1, NowPasses: 1}}, "run1 draft/attempt[1]: retried → released by  -2 +0")
	if r.Usage.Calls != 2 || r.Changes[0].BeforeReason != "rude" {
		t.Errorf("got %+v", r)
	}
	// A new judge adds a call for each attempt. A removed one saves its calls.
	r = run(t, s.test(t, files{"cascade.yaml": "cascade_id: c\nphases: [{name: draft, instructions: Write.}]"}))
	check(t, r, map[string]counts{"draft post tone": {Removed: 2}}, "run1 draft/attempt[1]: retried → released by  -2 +0")
	if r.Saved != 3 {
		t.Errorf("saved %d", r.Saved)
	}
	plain := &store{}
	plain.record(t, files{"cascade.yaml": "cascade_id: c\nphases: [{name: draft, instructions: Write.}]"}, "[{phase: draft, reply: hm}]", nil)
	test = plain.test(t, f)
	test.Judges, test.Host = true, host(t, `[{validator: tone, reply: '{"valid": false, "reason": "rude"}'}]`, nil)
	r = run(t, test)
	check(t, r, map[string]counts{"draft post tone": {NewFail: 1}}, "run1 draft/attempt[1]: released → retried by post tone -0 +1")
	if r.Added != 2 {
		t.Errorf("added %d", r.Added)
	}
	// A judge without an answer ends the test.
	test.Host = host(t, "[]", nil)
	if _, err := test.Run(t.Context()); err == nil {
		t.Error("an unanswered judge went unnoticed")
	}
}

// A removed judge also saves its call on the text of a person.
func TestJudgeOfAnEdit(t *testing.T) {
	const edited = "  human_input: {prompt: 'Better?', type: edit}"
	s := &store{}
	judged := one("  wards: {post: [{validator: tone}]}\n" + edited)
	judged["cascade.yaml"] += "validators: {tone: {judge: 'kind?'}}\n"
	r := s.record(t, judged, `
- {phase: draft, reply: go}
- {validator: tone, reply: 'true'}
- {validator: tone, reply: 'true'}
- {phase: next, reply: end}
`, nil, "please go")
	if r.Status != "succeeded" || r.Usage.Calls != 4 {
		t.Fatalf("got %+v", r)
	}
	got := run(t, s.test(t, one(edited)))
	check(t, got, map[string]counts{"draft post tone": {Removed: 2}})
	if got.Saved != 2 {
		t.Errorf("saved %d", got.Saved)
	}
}

// Validators that are not pure run on request. One without a verdict fails closed.
func TestNotPure(t *testing.T) {
	s := &store{}
	s.record(t, one(""), "[{phase: draft, reply: ax}, {phase: next, reply: end}]", nil)
	test := s.test(t, one("  wards: {post: [{validator: slow}]}"))
	check(t, run(t, test), map[string]counts{"draft post slow": {NotRun: 1}})
	test.Exec = true
	check(t, run(t, test), map[string]counts{"draft post slow": {NewFail: 1}},
		"run1 draft/attempt[1]: released → blocked by post slow -1 +0")
	// After a check that stops the run, impure checks do not run.
	r := run(t, s.test(t, one("  wards: {post: [{validator: slow}, {validator: crashes, mode: retry}]}")))
	check(t, r, map[string]counts{"draft post crashes": {NoVerdict: 1}},
		"run1 draft/attempt[1]: released → failed by post crashes -1 +0")
	if r.Changes[0].After != backtest.Error || !strings.Contains(r.Changes[0].AfterReason, "it crashed") {
		t.Errorf("got %+v", r.Changes)
	}
}

// TestEveryTranscript compares each transcript of the engine with its own cascade. Nothing changes.
func TestEveryTranscript(t *testing.T) {
	for name, s := range transcripts(t) {
		r := run(t, backtest.Test{Cascade: s.cascade, Host: host(t, "[]", nil), Source: s.store.source(), Exec: true})
		if !r.Same() || r.Verdicts.NewFail+r.Verdicts.NewPass+r.Verdicts.Removed+r.Verdicts.NoVerdict > 0 {
			t.Errorf("%s: %+v\n%v\n%+v", name, rows(r), moves(r), r.Changes)
		}
	}
}

// After an error of a check, the other checks are not new. A check in its place is new.
func TestBrokenCheck(t *testing.T) {
	s := &store{}
	s.record(t, one("  wards: {post: [{validator: crashes}, {validator: slow}]}"), tries, nil)
	check(t, run(t, s.test(t, one("  wards: {post: [{validator: crashes}, {validator: slow}, {validator: non_empty}]}"))),
		map[string]counts{"draft post crashes": {Same: 1}})
	check(t, run(t, s.test(t, one("  wards: {post: [{validator: non_empty}]}"))),
		map[string]counts{"draft post crashes": {Removed: 1}, "draft post non_empty": {NewPass: 1}},
		"run1 draft/attempt[1]: failed → released by  -0 +0")
}

func TestOtherRuns(t *testing.T) {
	s := three(t)
	renamed := files{"cascade.yaml": "cascade_id: d\nphases: [{name: draft, instructions: x, wards: {post: [{validator: non_empty}]}}]"}
	test := s.test(t, renamed)
	r := run(t, test)
	if r.Runs != 0 || r.OtherRuns != 1 || r.Attempts != 0 || words(t, r) != "no recorded run of cascade d (1 of other cascades)\n" {
		t.Errorf("got %+v\n%s", r, words(t, r))
	}
	test.Any = true
	if r = run(t, test); r.Runs != 1 || r.Attempts != 3 || r.UnknownVisits != 1 {
		t.Errorf("got %+v", r)
	}
	if got := words(t, run(t, (&store{}).test(t, renamed))); got != "no recorded run of cascade d\n" {
		t.Errorf("got %q", got)
	}
}

func words(t *testing.T, r *backtest.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Report().Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRendering(t *testing.T) {
	s := three(t)
	s.record(t, one(fmt.Sprintf(length, 5)), "[{phase: draft, reply: \"an \\e[31mowl <b>\"}, {phase: next, reply: end}]", nil)
	r := run(t, s.test(t, one(fmt.Sprintf(length, 30))))
	const want = `2 runs, 6 attempts of cascade c

CHECK                  MODE   SAME  NOW REJECTS  NOW PASSES  NEW PASS  NEW REJECT  REMOVED  NO VERDICT  NOT RUN
draft post min_length  retry  2     2            ·           ·         ·           ·        ·           ·

run1 draft/attempt[3] post min_length: passed → rejected
    the text has 6 characters, fewer than 30
    text: abcdef
run2 draft/attempt[1] post min_length: passed → rejected
    the text has 15 characters, fewer than 30
    text: an [31mowl <b>

run1 draft/attempt[3]: was released, would be exhausted by post min_length, saves 1 call
run2 draft/attempt[1]: was released, would be retried by post min_length, adds at least 1

changed attempts: 0 released, 1 retried, 0 blocked, 1 exhausted, 0 failed, 1 not made
model calls: 1 saved, at least 1 added

  SAME         the verdict would equal the recorded one
  NOW REJECTS  it passed the text, and would reject it
  released     its checks passed the text
  retried      a check rejected the text, and another attempt followed
  exhausted    the last attempt was rejected
  not made     the run would have ended or continued before it
  saved        model calls that the run made and would not make
  added        model calls that the run did not make and would make, estimated from such attempts
`
	if got := words(t, r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var b bytes.Buffer
	if err := r.Report().Write(&b, "junit"); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &suite); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if suite.Failures != 4 || suite.Tests != 4 || len(suite.Cases) != 4 || suite.Cases[0].Failure == nil {
		t.Errorf("got %+v", suite)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"now_fails":2`) || strings.Contains(string(text), "null") {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestSourceFails(t *testing.T) {
	broken := errors.New("broken")
	s := &store{ids: []string{"a"}, broken: broken}
	if _, err := s.test(t, one("")).Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestAnythingGoes compares runs with unrelated cascades. It must not panic.
func TestAnythingGoes(t *testing.T) {
	all := transcripts(t)
	names := slices.Sorted(maps.Keys(all))
	h := host(t, "[]", nil).(storytest.Serial).Host // runs at the same time
	source := &store{events: map[string][]event.Event{}, quick: true}
	reported := map[string][]string{} // the names in the paths of each run
	for _, name := range names {
		events := all[name].store.events["run"]
		for i, cut := range [][]event.Event{events, events[:len(events)/2], events[:len(events)/3], events[len(events)/2:]} {
			source.events[fmt.Sprintf("%s %d", name, i)] = cut
		}
		reported[name] = inPaths(events)
	}
	for i, name := range names {
		if testing.Short() && i >= 10 {
			break
		}
		c := all[name].cascade
		source.ids = nil
		for k, other := range names {
			if !has(c, reported[other]) && (i+k)%20 > 0 {
				continue
			}
			for cut := range 4 {
				source.ids = append(source.ids, fmt.Sprintf("%s %d", other, cut))
			}
		}
		r, err := backtest.Test{Cascade: c, Host: h, Source: source.source(), Any: true, Exec: true, Parallel: 4}.Run(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words(t, r)
		attempts := 0
		for _, p := range r.Outcomes {
			attempts += p.Attempts
		}
		if attempts != r.Attempts || r.Runs != len(source.ids) {
			t.Errorf("%s: %d attempts have a fate of %d, in %d runs", name, attempts, r.Attempts, r.Runs)
		}
	}
}

// inPaths returns the names in the paths of events.
func inPaths(events []event.Event) []string {
	found := map[string]bool{}
	for _, e := range events {
		for name := range strings.SplitSeq(string(e.Path), "/") {
			found[name] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// has reports whether a cascade has a phase with one of the names.
func has(c *cascades.Cascade, names []string) bool {
	return slices.ContainsFunc(names, c.Has)
}

func BenchmarkThousandRuns(b *testing.B) {
	f := one(fmt.Sprintf(length, 5))
	s := &store{events: map[string][]event.Event{}, quick: true}
	c, err := cascades.Load("cascade.yaml", f.read, known)
	if err != nil {
		b.Fatal(err)
	}
	m, err := scripted.Parse("script.yaml", []byte(strings.TrimSpace(tries)), nil)
	if err != nil {
		b.Fatal(err)
	}
	var events []event.Event
	r, _ := runner.New(runner.WithModel(m), runner.WithSink(event.Func(func(e event.Event) { events = append(events, e) })))
	if _, err := r.Run(b.Context(), c, nil); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		id := fmt.Sprint(i)
		s.ids = append(s.ids, id)
		s.events[id] = events
	}
	for b.Loop() {
		if _, err := (backtest.Test{Cascade: c, Host: r.Host(b.Context()), Source: s.source()}).Run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
