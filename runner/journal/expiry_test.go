package journal

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

const expiring = `-- cascade.yaml --
cascade_id: expiring
phases:
  - {name: draft, instructions: Write., human_input: {prompt: "Publish?", expires: 24h}}
`

const expiringElsewhere = `-- cascade.yaml --
cascade_id: expiring
phases:
  - {name: draft, instructions: Write., human_input: {prompt: "Publish?", expires: 24h, on_expired: late}, handoffs: [end]}
  - {name: late, compose: "Late: {{ validation_error }}", handoffs: [end]}
  - {name: end, compose: "{{ outputs | tojson }}"}
`

// A waitingRun is a waiting run with a clock that the test sets.
type waitingRun struct {
	*testing.T
	now  time.Time
	file string
	*Journal
	*runner.Runner
}

// await starts a run and returns when it waits.
func await(t *testing.T, cascade string) *waitingRun {
	w := &waitingRun{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), file: filepath.Join(t.TempDir(), "j.db")}
	w.Journal = journalAt(t, w.file, Options{Now: func() time.Time { return w.now }})
	w.Runner = runnerOver(t, w.Journal, &says{answers: map[string]string{"Write.": "a text"}})
	result, _ := w.Runner.Run(t.Context(), storyOf(t, cascade).Cascade, nil, runner.WithRunID("run"))
	if result.Status != engine.Waiting {
		t.Fatalf("got %+v", result)
	}
	return w
}

// pending returns the open question of the run.
func (w *waitingRun) pending() *Pending {
	w.Helper()
	run, err := w.Journal.Run(w.T.Context(), "run")
	if err != nil || run.Status != engine.Waiting || len(run.Pending) != 1 {
		w.Fatalf("got %+v, %v", run, err)
	}
	return &run.Pending[0]
}

func (w *waitingRun) answer(value any) error {
	return w.Answer(w.T.Context(), "run", "", engine.Answer{Value: value, By: "kim"})
}

// missed checks the result of a run whose question has expired.
func (w *waitingRun) missed(r engine.Result, err error) {
	w.Helper()
	var cause *engine.Error
	if !errors.As(err, &cause) || r.Status != engine.Failed || cause.Phase != "draft" || cause.Message != "human_input: nobody has answered within 24h0m0s" {
		w.Errorf("got %+v, %v", r, err)
	}
	if len(r.Answers) != 1 || !r.Answers[0].Expired || r.Answers[0].Value != nil || r.Answers[0].By != "" || r.Answers[0].Question != "Publish?" {
		w.Errorf("got %+v", r.Answers)
	}
	run, err := w.Journal.Run(context.Background(), "run")
	if err != nil || run.Pending != nil || run.Status != engine.Failed {
		w.Errorf("got %+v, %v", run, err)
	}
}

// A question expires at the same time for every observer. Its time starts when
// it was first asked.
func TestExpiry(t *testing.T) {
	t.Run("in time", func(t *testing.T) {
		w := await(t, expiring)
		for range 2 { // a resume without an answer does not restart the time
			w.now = w.now.Add(11 * time.Hour)
			if r, err := w.Resume(t.Context(), "run"); err == nil || r.Status != engine.Waiting {
				t.Fatalf("got %+v, %v", r, err)
			}
		}
		if p := w.pending(); p.Expired || !p.Expires.Equal(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("got %+v", p)
		}
		w.now = w.now.Add(2*time.Hour - 1)
		if err := w.answer(true); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Hour) // the answer was in time, however late the run resumes
		r, err := w.Resume(t.Context(), "run")
		if err != nil || len(r.Answers) != 1 || r.Answers[0].By != "kim" || r.Answers[0].Value != true || r.Answers[0].Path != "draft/human_input" {
			t.Errorf("got %+v, %v", r.Answers, err)
		}
	})
	t.Run("too late, to the moment", func(t *testing.T) {
		w := await(t, expiring)
		w.now = w.now.Add(24 * time.Hour)
		if !w.pending().Expired {
			t.Error("it is not reported as expired")
		}
		if err := w.answer(true); !errors.Is(err, runner.ErrExpired) || !strings.Contains(err.Error(), "until 2026-03-02T12:00:00Z") {
			t.Errorf("got %v", err)
		}
		w.now = w.now.Add(-5 * time.Hour) // an expiry is final
		if !w.pending().Expired {
			t.Error("it takes answers again")
		}
		if err := w.answer(true); !errors.Is(err, runner.ErrExpired) {
			t.Errorf("got %v", err)
		}
		w.missed(w.Resume(t.Context(), "run"))
		w.missed(w.Resume(t.Context(), "run"))
		if err := w.answer(true); err == nil || errors.Is(err, runner.ErrExpired) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("resumed too late", func(t *testing.T) {
		w := await(t, expiring)
		w.now = w.now.Add(25 * time.Hour)
		w.missed(w.Resume(t.Context(), "run"))
	})
	t.Run("goes elsewhere", func(t *testing.T) {
		w := await(t, expiringElsewhere)
		w.now = w.now.Add(25 * time.Hour)
		r, err := w.Resume(t.Context(), "run")
		if err != nil || r.Output != `{"late": "Late: human_input: nobody has answered within 24h0m0s"}` || r.Phases[0].Status != engine.Failed {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("shared by no other run", func(t *testing.T) {
		w := await(t, expiring)
		w.now = w.now.Add(25 * time.Hour)
		w.missed(w.Resume(t.Context(), "run"))
		r, err := w.Runner.Run(t.Context(), storyOf(t, expiring).Cascade, nil, runner.WithRunID("other"), runner.WithParent("run", ""))
		if err == nil || r.Status != engine.Waiting {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// The time continues after the asking process was killed, because it was stored
// before the question was asked.
func TestExpiryAfterAKill(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{Now: func() time.Time { return now }})
	s := storyOf(t, expiring)
	s.Answers = []any{true}
	r, err := j.Begin(s.start("run"))
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	killed := runner.WithAsk(func(context.Context, engine.Question) (engine.Answer, error) {
		asked = true
		return engine.Answer{}, errors.New("killed")
	})
	model := &says{answers: map[string]string{"Write.": "a text"}}
	first, err := runner.New(runner.WithModel(model), killed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.run(t, r, first.Host(t.Context()), false); err == nil || !asked {
		t.Fatalf("asked %v, %v", asked, err)
	}
	loseProcess(t, j, r)
	now = now.Add(24 * time.Hour)
	again := runnerOver(t, j, model)
	result, _ := again.Resume(t.Context(), "run")
	if result.Status != engine.Failed || len(result.Answers) != 1 || !result.Answers[0].Expired {
		t.Errorf("got %+v", result)
	}
	reported := 0
	for e, err := range j.Events(t.Context(), "run", 0, Whole) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.Answered && e.Status == event.Expired && e.By == "" {
			reported++
		}
	}
	if reported != 1 {
		t.Errorf("reported %d times that it has expired", reported)
	}
}

// An answer counts if the connection broke after its commit. A late answer is
// late at each try.
func TestAnswerUnheard(t *testing.T) {
	serverOnly(t)
	for late, want := range map[time.Duration]error{0: nil, 24 * time.Hour: runner.ErrExpired} {
		w := await(t, expiringElsewhere)
		w.now = w.now.Add(late)
		writer := w.Journal.db.Writer
		writer.Before = func() error {
			writer.Before = nil
			_, err := writer.C.Exec("COMMIT")
			return errors.Join(err, writer.C.Close())
		}
		if err := w.answer(true); !errors.Is(err, want) {
			t.Errorf("after %v: got %v", late, err)
		}
		if err := w.answer(true); err == nil || late == 0 != errors.Is(err, runner.ErrAnswered) {
			t.Errorf("after %v: once more: got %v", late, err)
		}
		if r, err := w.Resume(t.Context(), "run"); err != nil || len(r.Answers) != 1 || r.Answers[0].Expired != (late > 0) {
			t.Errorf("after %v: got %+v, %v", late, r.Answers, err)
		}
	}
}

// If several people answer at once, one answer counts and the others get an error, even
// if the run resumes in the meantime.
func TestAnswersAtOnce(t *testing.T) {
	w := await(t, expiringElsewhere)
	others := make([]*Journal, 4)
	for i := range others {
		others[i] = journalAt(t, w.file, Options{Now: func() time.Time { return w.now }})
	}
	result := make(chan error, len(others))
	for _, j := range others {
		go func() { result <- j.Answer(t.Context(), "run", "", engine.Answer{Value: true}) }()
	}
	taken := 0
	for range others {
		switch err := <-result; {
		case err == nil:
			taken++
		case !errors.Is(err, runner.ErrAnswered):
			t.Errorf("got %v", err)
		}
	}
	if taken != 1 {
		t.Errorf("%d answers were taken", taken)
	}
	if r, err := w.Resume(t.Context(), "run"); err != nil || len(r.Answers) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := w.answer(true); !errors.Is(err, runner.ErrAnswered) {
		t.Errorf("got %v", err)
	}
}
