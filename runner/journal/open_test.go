package journal

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

const together = `-- cascade.yaml --
cascade_id: together
phases:
  - name: sign
    together:
      - {name: legal, instructions: Write., human_input: {prompt: "Legal?", store_as: legal}}
      - {name: finance, instructions: Write., human_input: {prompt: "Finance?", store_as: finance}}
  - {name: done, compose: "legal={{ state.legal }} finance={{ state.finance }}"}
`

// keys returns the keys of the open questions of a run.
func keys(run *Run) (list []string) {
	for _, p := range run.Pending {
		list = append(list, string(p.Path))
	}
	return list
}

const (
	legal   = event.Path("sign/legal/human_input")
	finance = event.Path("sign/finance/human_input")
)

func TestAnswerNamesQuestion(t *testing.T) {
	w := await(t, together)
	open := func(want ...string) {
		t.Helper()
		run, err := w.Journal.Run(t.Context(), "run")
		if err != nil || !slices.Equal(keys(run), want) {
			t.Errorf("open: %q, %v; want %q", keys(run), err, want)
		}
	}
	open(string(finance), string(legal))
	err := w.answer(true)
	if !errors.Is(err, runner.ErrSeveral) || !strings.Contains(err.Error(), "sign/finance/human_input (phase finance), sign/legal/human_input (phase legal)") {
		t.Errorf("without a key: %v", err)
	}
	if err := w.Answer(t.Context(), "run", "sign/human_input", engine.Answer{Value: true}); !errors.Is(err, runner.ErrAnswered) {
		t.Errorf("to a question that nobody asks: %v", err)
	}
	if err := w.Answer(t.Context(), "ru", finance, engine.Answer{Value: true}); !errors.Is(err, runner.ErrNoRun) {
		t.Errorf("to the beginning of a name: %v", err)
	}
	if err := w.Answer(t.Context(), "run", finance, engine.Answer{Value: true, By: "finance"}); err != nil {
		t.Fatal(err)
	}
	open(string(legal))
	if err := w.Answer(t.Context(), "run", finance, engine.Answer{Value: true}); !errors.Is(err, runner.ErrAnswered) {
		t.Errorf("to a question that has its answer: %v", err)
	}
	if r, err := w.Resume(t.Context(), "run"); err == nil || r.Status != engine.Waiting {
		t.Fatalf("got %+v, %v", r, err)
	}
	open(string(legal))
	if err := w.answer(true); err != nil {
		t.Fatalf("to the only open question: %v", err)
	}
	open()
	r, err := w.Resume(t.Context(), "run")
	if err != nil || r.Output != "legal=True finance=True" {
		t.Fatalf("got %+v, %v", r, err)
	}
	for _, a := range r.Answers {
		if want := map[event.Path]string{legal: "kim", finance: "finance"}[a.Path]; a.By != want {
			t.Errorf("%s answered %s, not %s", a.By, a.Path, want)
		}
	}
}

// Two people answer two questions at the same time, and both answers count.
func TestAnswersToTwoQuestionsAtOnce(t *testing.T) {
	w := await(t, together)
	var both sync.WaitGroup
	for _, key := range []event.Path{legal, finance} {
		j := journalAt(t, w.file, Options{})
		both.Go(func() {
			if err := j.Answer(t.Context(), "run", key, engine.Answer{Value: true}); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	both.Wait()
	if r, err := w.Resume(t.Context(), "run"); err != nil || len(r.Answers) != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// One of two questions expires: an answer without a key is for the other.
func TestAnswerBesideExpiredQuestion(t *testing.T) {
	w := await(t, strings.Replace(together, `prompt: "Legal?"`, `prompt: "Legal?", expires: 24h`, 1))
	w.now = w.now.AddDate(0, 0, 2)
	if err := w.Answer(t.Context(), "run", legal, engine.Answer{Value: true}); !errors.Is(err, runner.ErrExpired) {
		t.Errorf("too late: %v", err)
	}
	if err := w.answer(true); err != nil {
		t.Errorf("to the other: %v", err)
	}
	run, err := w.Journal.Run(t.Context(), "run")
	if err != nil || len(run.Pending) != 1 || run.Pending[0].Path != legal || !run.Pending[0].Expired {
		t.Errorf("got %+v, %v", run, err)
	}
}
