package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

// A run shares equal effects with its parent at no cost, up to the phase from
// which everything is repeated.
func TestParent(t *testing.T) {
	answers := map[string]string{"First": "a", "Then": "b", "Last": "c"}
	for name, c := range map[string]struct {
		text, topic, from string
		want              []string
	}{
		"all":                {twoPhases, "owls", "", nil},
		"from a phase":       {twoPhases, "owls", "two", []string{"Then", "Last"}},
		"from no effect":     {strings.Replace(twoPhases, "  - {name: three", "  - {name: plain, compose: Plain.}\n  - {name: three", 1), "owls", "plain", []string{"Last"}},
		"another input":      {twoPhases, "bats", "", []string{"First"}},
		"edited":             {strings.Replace(twoPhases, "Then", "Then, as", 1), "owls", "", []string{"Then"}},
		"from an unknown":    {twoPhases, "owls", "tw", nil},
		"the first, anew":    {twoPhases, "owls", "one", []string{"First", "Then", "Last"}},
		"another comment":    {twoPhases + "# edited\n", "owls", "", nil},
		"another at the end": {strings.Replace(twoPhases, "Last", "At Last", 1), "owls", "", []string{"Last"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			m := &says{answers: answers}
			r := runnerOver(t, j, m)
			if _, err := r.Run(t.Context(), load(t, twoPhases), map[string]any{"topic": "owls"}, runner.WithRunID("old")); err != nil {
				t.Fatal(err)
			}
			m.calls = nil
			result, err := r.Run(t.Context(), load(t, c.text), map[string]any{"topic": c.topic}, runner.WithRunID("new"), runner.WithParent("old", c.from))
			if err != nil || !reflect.DeepEqual(m.calls, c.want) {
				t.Fatalf("calls %v, want %v; %v", m.calls, c.want, err)
			}
			if result.Usage.Calls != len(c.want) || result.Output != "c" {
				t.Errorf("got %+v", result)
			}
			if s, err := j.Run(t.Context(), "new"); err != nil || s.Parent != "old" || s.Start.From != c.from || s.Usage.Calls != len(c.want) {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

// Findings are shared only if all files of the cascade are the same, because
// they define the validators.
func TestParentsFindings(t *testing.T) {
	const text = "cascade_id: one\nphases:\n  - {name: one, instructions: First, wards: {post: [{validator: counts}]}}\n"
	judged := 0
	counts := validators.New("counts", "counts", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
		judged++
		return validators.Pass("counted"), nil
	}, validators.Impure)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := &says{answers: map[string]string{"First": "a"}}
	r := runnerOver(t, j, m, runner.WithValidators(counts))
	for i, c := range []struct {
		text, parent string
		want         int
	}{{text, "", 1}, {text, "run0", 1}, {text + "# edited\n", "run0", 2}} {
		cascade, err := r.Parse("cascade.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Run(t.Context(), cascade, nil, runner.WithRunID(fmt.Sprintf("run%d", i)), runner.WithParent(c.parent, "")); err != nil {
			t.Fatal(err)
		}
		if judged != c.want || len(m.calls) != 1 {
			t.Errorf("run %d: %d findings, %d calls", i, judged, len(m.calls))
		}
	}
}

func TestNoSuchParent(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	_, err := j.Begin(runner.Start{RunID: "new", Parent: "old"})
	if err == nil || !strings.Contains(err.Error(), "old") {
		t.Errorf("got %v", err)
	}
	if _, err := j.Run(t.Context(), "new"); err == nil {
		t.Error("the run has begun")
	}
}

const asking = `
-- cascade.yaml --
cascade_id: asking
phases:
  - {name: draft, instructions: Write., human_input: {prompt: "Publish {{ content }}?", type: confirmation, store_as: ok}}
  - {name: pick, instructions: "It is {{ state.ok }}", human_input: {prompt: "Which?", type: choice, options: [red, blue]}}
  - {name: end, instructions: "The end in {{ state.pick_answer }}", human_input: {prompt: "Why?", type: text}}
`

// A run waits for its answers, accepts suitable ones, and shares them with a
// run that asks the same.
func TestAnswers(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := &says{answers: map[string]string{"Write.": "a text", "It is True": "pick one", "in blue": "done"}}
	r := runnerOver(t, j, m)
	c := storyOf(t, asking).Cascade
	result, err := r.Run(t.Context(), c, nil, runner.WithRunID("run"))
	if err == nil || result.Status != engine.Waiting {
		t.Fatalf("got %+v, %v", result, err)
	}
	if err := j.Answer(t.Context(), "none", "", engine.Answer{Value: true}); err == nil {
		t.Error("a run that is not there took an answer")
	}
	for _, q := range []struct {
		path, prompt string
		wrong        []any
		right        any
	}{
		{"draft/human_input", "Publish a text?", []any{"yes", nil, 1, "true"}, true},
		{"pick/human_input", "Which?", []any{"green", true, "", nil}, "blue"},
		{"end/human_input", "Why?", []any{"", " \n", 3, nil}, "because"},
	} {
		s, err := j.Run(t.Context(), "last")
		if err != nil || len(s.Pending) != 1 || string(s.Pending[0].Path) != q.path || s.Pending[0].Question.Prompt != q.prompt || s.Status != engine.Waiting || s.Finished != nil {
			t.Fatalf("got %+v, %v", s, err)
		}
		for _, wrong := range q.wrong {
			if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: wrong}); err == nil {
				t.Errorf("%s took %v", q.path, wrong)
			}
		}
		if again, err := r.Resume(t.Context(), "run"); err == nil || again.Status != engine.Waiting {
			t.Errorf("resumed without an answer: %+v, %v", again, err)
		}
		if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: q.right}); err != nil {
			t.Fatal(err)
		}
		if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: q.right}); err == nil {
			t.Error("a second answer was taken")
		}
		result, err = r.Resume(t.Context(), "run")
		if q.path != "end/human_input" != (err != nil) {
			t.Fatalf("%s: %+v, %v", q.path, result, err)
		}
	}
	if result.Output != "done" || len(m.calls) != 3 || result.Phases[0].Status != engine.Succeeded {
		t.Errorf("got %+v after %v", result, m.calls)
	}
	m.calls = nil
	result, err = r.Run(t.Context(), c, nil, runner.WithRunID("again"), runner.WithParent("run", ""))
	if err != nil || result.Output != "done" || len(m.calls) != 0 || result.Usage.Calls != 0 {
		t.Errorf("got %+v, %v after %v", result, err, m.calls)
	}
	// From the second phase on, people are asked again too.
	result, err = r.Run(t.Context(), c, nil, runner.WithRunID("third"), runner.WithParent("run", "pick"))
	if err == nil || result.Status != engine.Waiting || result.Error.Phase != "pick" {
		t.Errorf("got %+v, %v", result, err)
	}
}

// A replaying model returns the recorded replies, and fails with a detailed
// message otherwise.
func TestReplay(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := &says{answers: map[string]string{"First": "a", "Then": "b", "Last": "c"}}
	c, input := load(t, twoPhases), map[string]any{"topic": "owls"}
	want, err := runnerOver(t, j, m).Run(t.Context(), c, input, runner.WithRunID("a:run"))
	if err != nil {
		t.Fatal(err)
	}
	replay, err := j.Replay(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	result, err := runnerOver(t, j, replay).Run(t.Context(), c, input, runner.WithRunID("b:again"))
	if err != nil || len(m.calls) != 3 || result.Output != want.Output || result.Usage != want.Usage {
		t.Errorf("got %+v, %v", result, err)
	}
	more := load(t, twoPhases+"  - {name: four, instructions: One more}\n")
	_, err = runnerOver(t, j, replay).Run(t.Context(), more, input)
	if err == nil || !strings.Contains(err.Error(), "four/attempt[1]/turn[0]/model") || !strings.Contains(err.Error(), "attempt 1, turn 0\n  user: One more") {
		t.Errorf("got %v", err)
	}
	long := model.Request{Key: "r:at/model", Phase: "p", Attempt: 2, Turn: 3, Validator: "tone", Role: "judge"}
	for i := range 9 {
		long.Messages = append(long.Messages, model.Message{Role: "user", Content: fmt.Sprint("said ", i, "\nand more")})
	}
	long.Messages[7].Content = strings.Repeat("x", 600)
	long.Messages[8].Content = strings.Repeat("x", 599) + "éy" // cut within a character
	words := `run a:run has no answer recorded at at/model; the request:
  phase p, attempt 2, turn 3, validator tone, role judge
  user: said 0
    and more
  … 3 messages …
  user: said 4
    and more
  user: said 5
    and more
  user: said 6
    and more
  user: ` + strings.Repeat("x", 600) + `
  user: ` + strings.Repeat("x", 599) + "… (602 bytes)"
	if _, err := replay.Call(t.Context(), long); err == nil || !strings.HasSuffix(err.Error(), words) {
		t.Errorf("got %v, want %s", err, words)
	}
	if _, err := j.Replay(t.Context(), "none"); err == nil {
		t.Error("a run that is not there was replayed")
	}
	r := begin(t, j, runner.Start{RunID: "tool"})
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	if err := r.End(engine.Result{RunID: "tool", Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
	replay, err = j.Replay(t.Context(), "tool")
	if err != nil {
		t.Fatal(err)
	}
	var f *model.Failure
	if _, err := replay.Call(t.Context(), model.Request{Key: "r:p/tool"}); !errors.As(err, &f) || f.Class != model.Unscripted {
		t.Errorf("what a tool gave was taken for an answer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Call(ctx, model.Request{Key: "r:one/attempt[1]/turn[0]/model"}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// A run that replays or shares another shows the candidates in the same order,
// so that "winner: 1" is the same one.
func TestAlike(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	c := load(t, "cascade_id: c\nphases: [{name: p, instructions: Write., soundings: {factor: 20, evaluator_instructions: The best.}}]")
	var calls atomic.Int64
	live := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		text := fmt.Sprint("text ", calls.Add(1))
		if r.Role == "evaluator" {
			text = `{"winner": 1, "reason": "the first"}`
		}
		return model.Response{Text: text, Finish: "stop", Usage: model.Usage{Calls: 1}}, nil
	})
	picked := func(id string, r *runner.Runner, options ...runner.RunOption) any {
		t.Helper()
		result, err := r.Run(t.Context(), c, nil, append(options, runner.WithRunID(id))...)
		if err != nil {
			t.Fatal(err)
		}
		return result.Output
	}
	want := picked("old", runnerOver(t, j, live))
	for at, from := range []string{"old", "replay-0"} {
		replay, err := j.Replay(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		r := runnerOver(t, j, replay, runner.WithModelName("replay:"+from))
		if got := picked(fmt.Sprint("replay-", at), r); got != want {
			t.Errorf("%s answered otherwise: %q is picked, want %q", from, got, want)
		}
	}
	calls.Store(0)
	if got := picked("child", runnerOver(t, j, live), runner.WithParent("old", "")); got != want || calls.Load() != 0 {
		t.Errorf("the child picks %q with %d calls, want %q", got, calls.Load(), want)
	}
	if _, err := runnerOver(t, j, live).Run(t.Context(), c, nil, runner.WithParent("none", "")); err == nil {
		t.Error("a run shares with one that is not there")
	}
}

// backwards is a host during whose calls the clock goes back.
type backwards struct {
	quick
	clock *calendar
}

func (b backwards) Model(at event.Path, req model.Request) (model.Response, error) {
	b.clock.at = b.clock.at.Add(-time.Hour)
	return b.quick.Model(at, req)
}

// No effect has a negative duration, and the duration of a shared one is 0.
func TestTookNothing(t *testing.T) {
	clock := &calendar{time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: clock.now})
	for n, start := range []runner.Start{{RunID: "run"}, {RunID: "child", Parent: "run"}} {
		r := begin(t, j, start)
		if _, err := r.Host(backwards{quick{"yes"}, clock}).Model("p/model", model.Request{}); err != nil {
			t.Fatal(err)
		}
		for _, l := range storedRows(t, j, int64(n+1)) {
			if l.Took != 0 {
				t.Errorf("run %s: %s took %d", start.RunID, l.Kind, l.Took)
			}
		}
	}
}

// A parent's result counts once it is stored in this run. If that fails, the run stops
// before the next effect.
func TestParentUnwritten(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	const at = event.Path("p/attempt[1]/turn[0]/model")
	asked := func(r runner.Recording) (model.Response, error) {
		h := r.Host(quick{reply: "said"})
		h.Emit(event.Event{Kind: event.ModelCalled, Path: at, Conversation: at, Request: &model.Request{Model: "m"}})
		return h.Model(at, model.Request{Model: "m"})
	}
	old := begin(t, j, runner.Start{RunID: "old"})
	if _, err := asked(old); err != nil {
		t.Fatal(err)
	}
	if err := old.End(engine.Result{RunID: "old", Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
	shares := begin(t, j, runner.Start{RunID: "new", Parent: "old"})
	j.db.Writer.Before = func() error { return errors.New("no") }
	if got, err := asked(shares); err == nil {
		t.Errorf("got %+v", got)
	}
	j.db.Writer.Before = nil
}

// halfway is a host whose models return half a reply and fail.
type halfway struct{ quick }

func (halfway) Model(event.Path, model.Request) (model.Response, error) {
	return model.Response{Text: "half", Failure: &model.Failure{Class: model.Unscripted, Message: "cut"}}, nil
}

// A replayed failure is separate from its reply, as that of a model is.
func TestReplayedFailure(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	const at = event.Path("p/model")
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(halfway{})
	h.Emit(event.Event{Kind: event.ModelCalled, Path: at, Conversation: at, Request: &model.Request{}})
	if _, err := h.Model(at, model.Request{}); err != nil {
		t.Fatal(err)
	}
	replay, err := j.Replay(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	got, err := replay.Call(t.Context(), model.Request{Key: "again:" + string(at)})
	var failure *model.Failure
	if !errors.As(err, &failure) || failure.Message != "cut" || got.Text != "half" || got.Failure != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := r.End(engine.Result{RunID: "run", Status: engine.Failed}, nil); err != nil {
		t.Fatal(err)
	}
}

// A run of one phase takes the calls before it from its parent, makes those of the phase,
// and ends after it.
func TestOnlyPhase(t *testing.T) {
	onFile(t)
	answers := map[string]string{"First": "a", "Then": "b", "Last": "c", "At": "d"}
	for name, c := range map[string]struct {
		text, topic, only string
		want              []string
		output            any
		wrong             string
	}{
		"the first":           {twoPhases, "owls", "one", []string{"First"}, "a", ""},
		"one between others":  {twoPhases, "owls", "two", []string{"Then"}, "b", ""},
		"the last":            {twoPhases, "owls", "three", []string{"Last"}, "c", ""},
		"the phase is edited": {strings.Replace(twoPhases, "Then", "At once", 1), "owls", "two", []string{"At"}, "d", ""},
		"a later one edited":  {strings.Replace(twoPhases, "Last", "At Last", 1), "owls", "two", []string{"Then"}, "b", ""},
		"an earlier edited":   {strings.Replace(twoPhases, "Then", "At once", 1), "owls", "three", nil, nil, "run old has no equal call at two/attempt[1]/turn[0]/model"},
		"another input":       {twoPhases, "bats", "two", nil, nil, "run old has no equal call at one/attempt[1]/turn[0]/model"},
		"unknown":             {twoPhases, "owls", "tw", nil, nil, "has no phase tw"},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			m := &says{answers: answers}
			r := runnerOver(t, j, m)
			if _, err := r.Run(t.Context(), load(t, twoPhases), map[string]any{"topic": "owls"}, runner.WithRunID("old")); err != nil {
				t.Fatal(err)
			}
			m.calls = nil
			result, err := r.Run(t.Context(), load(t, c.text), map[string]any{"topic": c.topic}, runner.WithRunID("new"), runner.WithOnly("old", c.only))
			if !reflect.DeepEqual(m.calls, c.want) || !reflect.DeepEqual(result.Output, c.output) || result.Usage.Calls != len(c.want) {
				t.Errorf("calls %v, want %v; got %+v", m.calls, c.want, result)
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("got %v, want %q", err, c.wrong)
			}
			if err != nil {
				return
			}
			if last := result.Phases[len(result.Phases)-1].Name; last != c.only {
				t.Errorf("the run ends after %s", last)
			}
			if s, err := j.Run(t.Context(), "new"); err != nil || s.Parent != "old" || s.Only != c.only || s.Start.Only != c.only {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

// A run of one phase takes the failed calls before it too, and goes on after a question.
func TestOnlyPhaseResumed(t *testing.T) {
	const text = `
-- cascade.yaml --
cascade_id: only
model: [m1, m2]
phases:
  - {name: one, instructions: First}
  - {name: two, instructions: Then, human_input: {prompt: "Publish?", type: confirmation}}
  - {name: three, instructions: Last}
`
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := &says{answers: map[string]string{"First": "a", "Then": "b", "Last": "c"}, fails: map[string]int{"First": 1}}
	r := runnerOver(t, j, m)
	c := storyOf(t, text).Cascade
	if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("old")); !errors.Is(err, runner.ErrNobody) {
		t.Fatal(err)
	}
	m.calls, m.fails = nil, nil
	if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("new"), runner.WithOnly("old", "two")); !errors.Is(err, runner.ErrNobody) {
		t.Fatal(err)
	}
	if err := j.Answer(t.Context(), "new", "", engine.Answer{Value: true}); err != nil {
		t.Fatal(err)
	}
	result, err := r.Resume(t.Context(), "new")
	if err != nil || result.Output != "b" || len(result.Phases) != 2 || !reflect.DeepEqual(m.calls, []string{"Then"}) {
		t.Errorf("got %+v, %v; calls %v", result, err, m.calls)
	}
}
