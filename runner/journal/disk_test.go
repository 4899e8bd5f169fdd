package journal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A looker is a host that checks at each waiting effect whether all earlier
// results are in the file.
type looker struct {
	quick
	t        *testing.T
	file     string
	finished map[event.Path]bool
	found    map[event.Path]bool // by pure validators, since the last effect
}

func (l looker) look(at event.Path) {
	l.t.Helper()
	j := journalAt(l.t, l.file, Options{ReadOnly: true})
	defer j.Close()
	there := effectsOf(l.t, j, "run")
	for path := range l.finished {
		if there[path] == "" {
			l.t.Errorf("at %s, %s is not in the file", at, path)
		}
	}
	maps.Copy(l.finished, l.found)
	clear(l.found)
	l.finished[at] = true
}

func (l looker) Model(at event.Path, req model.Request) (model.Response, error) {
	l.look(at)
	return l.quick.Model(at, req)
}

func (l looker) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	l.look(at)
	return l.quick.Tool(at, job)
}

func (l looker) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if v.Pure {
		l.found[at] = true
	} else {
		l.look(at)
	}
	return l.quick.Validate(at, v)
}

// The result of every effect, and the findings of pure validators before it,
// are in the file before the next effect starts.
func TestOnDiskBeforeTheNext(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	h := begin(t, j, runner.Start{RunID: "run"}).Host(looker{t: t, file: file, finished: map[event.Path]bool{}, found: map[event.Path]bool{}})
	for i := range 4 {
		at := event.Path("p").At("attempt", i)
		_, e1 := h.Model(at.Join("model"), model.Request{})
		_, e2 := h.Validate(at.Join("post[0]"), engine.Validation{Pure: true})
		_, e3 := h.Tool(at.Join("tool"), engine.Job{})
		_, e4 := h.Validate(at.Join("post[1]"), engine.Validation{Pure: true})
		_, e5 := h.Validate(at.Join("post[2]"), engine.Validation{})
		if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
			t.Fatal(err)
		}
	}
}

// An event is not emitted again as often as it was recorded. Further or
// different events are emitted.
func TestEventsThatComeAgain(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	var live collector
	for _, words := range []string{"aa", "b", "abaa"} {
		r, err := j.Begin(runner.Start{RunID: "run"})
		if errors.Is(err, runner.ErrRunExists) {
			r, err = j.Reopen("run")
		}
		if err != nil {
			t.Fatal(err)
		}
		h := r.Host(&passing{quick{}, &live})
		for _, word := range strings.Split(words, "") {
			h.Emit(event.Event{Kind: event.Feedback, Path: "p", Message: word})
			h.Emit(event.Event{Kind: event.ModelCalled, Path: "p/model", Request: &model.Request{Messages: []model.Message{{Content: word}}}})
		}
		if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
			t.Fatal(err)
		}
	}
	reported := map[event.Kind]string{}
	for _, e := range live.events {
		if reported[e.Kind] += e.Message; e.Request != nil {
			reported[e.Kind] += e.Request.Messages[0].Content
		}
	}
	if want := "aaba"; reported[event.Feedback] != want || reported[event.ModelCalled] != want || len(eventsOf(t, j, "run", Whole)) != 2*len(want) {
		t.Errorf("reported are %v", reported)
	}
}

// After a failed piece nothing is written until the end of the run, when all
// pieces are.
func TestNoGap(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	text := strings.Repeat("a long text ", 100)
	emit := func(n int) {
		r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p", Message: fmt.Sprint(n, text)})
	}
	errOnce := errors.New("once")
	emit(0)
	j.db.Writer.Before = func() error { return errOnce }
	if err := r.commit(); !errors.Is(err, errOnce) {
		t.Fatalf("got %v", err)
	}
	j.db.Writer.Before = nil
	emit(1)
	if err := r.commit(); !errors.Is(err, errOnce) {
		t.Errorf("behind a gap: %v", err)
	}
	if n := len(eventsOf(t, j, "run", Whole)); n != 0 {
		t.Errorf("%d events are there", n)
	}
	// If a piece is rolled back, the next user of its text writes the text again.
	other := begin(t, j, runner.Start{RunID: "other"})
	other.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p", Message: fmt.Sprint(0, text)})
	if err := other.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	if events := eventsOf(t, j, "other", Whole); events[0].Message != fmt.Sprint(0, text) {
		t.Errorf("got %+v", events)
	}
	if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	if events := eventsOf(t, j, "run", Whole); len(events) != 2 || events[1].Message != fmt.Sprint(1, text) {
		t.Errorf("got %+v", events)
	}
}

// Waiting for an answer does not count as elapsed time, and an answered
// question is not open.
func TestWaiting(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: func() time.Time { return at }})
	m := &says{answers: map[string]string{"Write.": "a text", "It is": "pick one", "The end": "done"}}
	c := storyOf(t, asking).Cascade
	_, err := runnerOver(t, j, m).Run(t.Context(), c, nil, runner.WithRunID("run"))
	if !errors.Is(err, runner.ErrNobody) {
		t.Fatal(err)
	}
	at = at.Add(24 * time.Hour)
	if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
		t.Fatal(err)
	}
	at = at.Add(24 * time.Hour)
	r := reopen(t, j, "run")
	if spent := r.Start().Elapsed; spent != 0 {
		t.Errorf("spent %v", spent)
	}
	if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	open := func() bool {
		run, err := j.Run(t.Context(), "run")
		if err != nil {
			t.Fatal(err)
		}
		return run.Pending != nil
	}
	if _, err := runnerOver(t, j, m).Resume(t.Context(), "run"); !errors.Is(err, runner.ErrNobody) || !open() {
		t.Fatal(err)
	}
	look := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		if open() {
			t.Error("the question is still open")
		}
		return m.Call(ctx, r)
	})
	ask := func(_ context.Context, q engine.Question) (engine.Answer, error) {
		if q.Type == "choice" {
			return engine.Answer{Value: "red"}, nil
		}
		return engine.Answer{}, runner.ErrNobody
	}
	if _, err := runnerOver(t, j, look, runner.WithAsk(ask)).Resume(t.Context(), "run"); !errors.Is(err, runner.ErrNobody) || len(m.calls) != 3 {
		t.Errorf("got %v after %v", err, m.calls)
	}
}

// Model calls store their caller, for SQL queries.
func TestCallsAreOfSomebody(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	asked := model.Request{Model: "m", Phase: "p", Attempt: 2, Turn: 3, Validator: "tone", Role: "critic"}
	if _, err := begin(t, j, runner.Start{RunID: "run"}).Host(quick{"yes"}).Model("p/attempt[2]/turn[3]/ward[0]/model", asked); err != nil {
		t.Fatal(err)
	}
	got, err := j.Query(t.Context(), "SELECT model, phase, attempt, turn, validator, role FROM calls", 0)
	if want := [][]any{{"m", "p", int64(2), int64(3), "tone", "critic"}}; err != nil || !reflect.DeepEqual(got.Rows, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// failing is a host whose journal fails at question c.
type failing struct {
	quick
	fail func()
}

func (f failing) Ask(at event.Path, _ engine.Question) (engine.Answer, error) {
	if at == "c" {
		f.fail()
	}
	return engine.Answer{}, engine.ErrSuspended
}

// spoil makes a write of a recording fail.
func spoil(j *Journal, r *recording, err error) {
	j.db.Writer.Before = func() error { return err }
	_ = r.commit()
	j.db.Writer.Before = nil
}

// A run whose journal has failed makes no more effects, and its error gives the
// reason.
func TestSpoiltMakesNothing(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	if _, err := r.Host(&calls{err: errStatement}).Tool("p/begun", engine.Job{Tool: tool.Tool{Effect: tool.Writes}}); !errors.Is(err, errStatement) {
		t.Fatal(err)
	}
	loseProcess(t, j, r)
	r = reopen(t, j, "run")
	asks := &calls{}
	h := r.Host(asks)
	if _, err := h.Tool("p/first", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space")
	spoil(j, r.(*recording), full)
	for at, effect := range map[event.Path]tool.Effect{"p/read": tool.None, "p/write": tool.Writes, "p/begun": tool.Writes} {
		if _, err := h.Tool(at, engine.Job{Tool: tool.Tool{Effect: effect}}); !errors.Is(err, full) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if len(asks.made) != 1 {
		t.Errorf("there are called %v", asks.made)
	}
}

// overtime is a host whose time limits end immediately.
type overtime struct{ quick }

func (overtime) Within(at event.Path, _ time.Duration, _ func(engine.Host) error) error {
	return &engine.Overtime{At: at}
}

// A timeout is stored, or the run stops.
func TestOvertimeIsKept(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(overtime{})
	if err := h.Within("p", time.Second, nil); !engine.IsOver(err, "p") || effectsOf(t, j, "run")["p"] == "" {
		t.Errorf("got %v", err)
	}
	// After a resume the limit ends again, and no effect within it begins.
	if err := r.End(engine.Result{RunID: "run", Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	h = reopen(t, j, "run").Host(overtime{})
	err := h.Within("p", time.Second, func(h engine.Host) error {
		return h.Within("p/inner", time.Second, func(h engine.Host) error {
			_, err := h.Tool("p/inner/tool", engine.Job{})
			return err
		})
	})
	if made := effectsOf(t, j, "run"); !engine.IsOver(err, "p") || len(made) != 1 {
		t.Errorf("got %v, with %v", err, made)
	}
	if err := h.Within("p", time.Second, func(engine.Host) error { return nil }); err != nil { // nothing was left to do
		t.Error(err)
	}
	j.db.Writer.Before = func() error { return errStatement }
	if err := h.Within("q", time.Second, nil); !errors.Is(err, errStatement) {
		t.Errorf("got %v", err)
	}
	j.db.Writer.Before = nil
}

// oddly is a host whose tools return values that do not encode as JSON.
type oddly struct{ quick }

func (oddly) Tool(event.Path, engine.Job) (tool.Result, error) {
	return tool.Result{Value: math.NaN()}, nil
}

// A run waits with all of its open questions. Data that could not be written is
// written at its end, with all later data.
func TestOpenQuestionsAtEnd(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	h := r.Host(failing{fail: func() { spoil(j, r, errors.New("no space")) }})
	for _, at := range []event.Path{"a", "b", "c"} {
		if _, err := h.Ask(at, engine.Question{Prompt: string(at)}); errors.Is(err, engine.ErrSuspended) != (at != "c") {
			t.Errorf("%s: %v", at, err)
		}
	}
	h.Emit(event.Event{Kind: event.Feedback, Path: "p"})
	if err := r.End(engine.Result{RunID: "run", Status: engine.Waiting}, &engine.Error{Code: engine.Waiting, Path: "b"}); err != nil {
		t.Fatal(err)
	}
	// A second end has no effect, and late calls do not block.
	if err := r.End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Error(err)
	}
	if _, err := h.Ask("a", engine.Question{}); err == nil {
		t.Error("it is asked though the journal cannot be written")
	}
	writes := &calls{}
	if _, err := r.Host(writes).Tool("p/tool", engine.Job{Tool: tool.Tool{Effect: tool.Writes}}); err == nil || writes.made != nil {
		t.Errorf("it is written though the journal cannot be: %v", err)
	}
	if run, err := j.Run(t.Context(), "run"); err != nil || run.Status != engine.Waiting || !slices.Equal(keys(run), []string{"a", "b", "c"}) {
		t.Errorf("got %+v, %v", run, err)
	}
	if events := eventsOf(t, j, "run", Whole); len(events) != 1 {
		t.Errorf("got %v", events)
	}
	for status, asks := range map[string]bool{engine.Failed: true, engine.Blocked: false} { // a failed run can be resumed
		r := begin(t, j, runner.Start{RunID: status})
		_, _ = r.Host(failing{}).Ask("a", engine.Question{})
		result := engine.Result{RunID: status, Status: status, Error: &event.Error{Code: status}}
		if err := r.End(result, nil); err != nil {
			t.Fatal(err)
		}
		if run, err := j.Run(t.Context(), status); err != nil || asks != (run.Pending != nil) {
			t.Errorf("%s: it asks for %+v, %v", status, run.Pending, err)
		}
	}
	odd := begin(t, j, runner.Start{RunID: "odd"})
	if err := odd.End(engine.Result{RunID: "odd", Output: math.NaN(), Error: &event.Error{Code: engine.Failed}}, nil); err == nil {
		t.Error("an output that is no JSON is kept")
	}
	if _, err := odd.Host(oddly{}).Tool("p/tool", engine.Job{}); err == nil || !strings.Contains(err.Error(), "effect p/tool: ") {
		t.Errorf("a result that is no JSON is kept: %v", err)
	}
}
