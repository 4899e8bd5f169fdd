package temporal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// withJournal opens a journal and uses it as the log of a trial.
func withJournal(t *testing.T, x *trial) *journal.Journal {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	texts := x.crew.Texts
	x.crew.Texts, x.crew.Log = j.Blobs(), j.External("Temporal")
	for _, digest := range []*string{&x.start.Cascade, &x.start.Input} {
		raw, err := texts.Get(*digest)
		if err == nil {
			*digest, err = x.crew.Texts.Put(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	x.again(t)
	return j
}

// TestRunsAreSeen checks that a run on the cluster is listed with the local
// runs before and after its end. It cannot be resumed locally.
func TestRunsAreSeen(t *testing.T) {
	x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
	j := withJournal(t, x)
	result, _, err := x.end(t)
	if err != nil || result.Status != engine.Succeeded {
		t.Fatalf("%+v: %v", result, err)
	}
	run, err := j.Run(t.Context(), "run")
	if err != nil || run.Status != engine.Succeeded || run.CascadeID != "several" || run.Phases != 3 || run.Usage.Calls != result.Usage.Calls {
		t.Errorf("%+v: %v", run, err)
	}
	if seen, err := j.Result(t.Context(), "run"); err != nil || seen.Output != result.Output || len(seen.Verdicts) != len(result.Verdicts) {
		t.Errorf("%+v: %v", seen, err)
	}
	if _, err := j.Reopen("run"); !errors.Is(err, runner.ErrRunBusy) {
		t.Errorf("gone on with: %v", err)
	}
}

// TestQuestionsAreSeen checks that open questions are listed with those of
// local runs. An attempt to answer one there returns the Temporal command.
func TestQuestionsAreSeen(t *testing.T) {
	x := try(t, `
cascade_id: c
phases:
  - name: both
    together:
      - {name: a, compose: x, human_input: {type: confirmation, prompt: 'a?', expires: 48h}}
      - {name: b, compose: x, human_input: {type: confirmation, prompt: 'b?'}}
  - {name: last, compose: y, human_input: {type: confirmation, prompt: 'last?'}}
`, nil, echo)
	j := withJournal(t, x)
	seen := func(want ...string) {
		run, err := j.Run(t.Context(), "run")
		if err != nil || run.Status != engine.Waiting || run.Owner != "Temporal" || len(run.Pending) != len(want) {
			t.Fatalf("want %s: %+v: %v", want, run, err)
		}
		for i, p := range run.Pending {
			if p.Question.Prompt != want[i] || (p.Expires != nil) != (want[i] == "a?") {
				t.Errorf("want %s: %+v", want[i], p)
			}
		}
		if _, err := j.Result(t.Context(), "run"); err != nil {
			t.Error(err)
		}
		if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); !errors.Is(err, runner.ErrRunBusy) || !strings.Contains(err.Error(), "another engine continues it") {
			t.Errorf("answered here: %v", err)
		}
	}
	for i, at := range []event.Path{"both/a/human_input", "both/b/human_input", "last/human_input"} {
		x.RegisterDelayedCallback(func() {
			seen([][]string{{"a?", "b?"}, {"b?"}, {"last?"}}[i]...)
			x.SignalWorkflow(SignalAnswer, Answer{Question: at, Value: "yes"})
		}, time.Duration(i+1)*time.Hour)
	}
	result, _, err := x.end(t)
	if err != nil || result.Status != engine.Succeeded {
		t.Fatalf("%+v: %v", result, err)
	}
	if run, err := j.Run(t.Context(), "run"); err != nil || run.Status != engine.Succeeded || run.Pending != nil {
		t.Errorf("%+v: %v", run, err)
	}
}

// TestCancelledIsSeen checks the status of a run that was cancelled on
// Temporal's page, before and after the cancellation.
func TestCancelledIsSeen(t *testing.T) {
	x := try(t, "cascade_id: c\nphases:\n  - {name: a, compose: x, human_input: {type: confirmation, prompt: 'ok?'}}\n", nil, echo)
	j := withJournal(t, x)
	x.RegisterDelayedCallback(func() {
		if list, err := j.Runs(t.Context(), journal.Filter{}); err != nil || len(list) != 1 || list[0].Status != engine.Waiting || list[0].Owner != "Temporal" {
			t.Errorf("%+v: %v", list, err)
		}
		x.CancelWorkflow()
	}, time.Minute)
	result, _, err := x.end(t)
	if result.Status != engine.Cancelled {
		t.Fatalf("%+v: %v", result, err)
	}
	run, err := j.Run(t.Context(), "run")
	if err != nil || run.Status != engine.Cancelled || run.Pending != nil || run.Error == nil || strings.Contains(run.Error.Message, "is gone") {
		t.Errorf("%+v: %v", run, err)
	}
}

// TestFolderLog checks that an incomplete line loses no other event. The next
// event begins a new line.
func TestFolderLog(t *testing.T) {
	dir := t.TempDir()
	log, err := NewFolderLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	tell := func(seq int64) error { return log.Append(event.Event{Run: "run", Seq: seq, Kind: event.RunStarted}) }
	err = tell(1)
	f, e := os.OpenFile(filepath.Join(dir, "run.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if e == nil {
		_, e = f.WriteString(`{"seq":2,"kind":"run_st`)
	}
	for _, err := range []error{err, e, f.Close(), tell(2), tell(3), tell(3)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	list, err := log.Events("run")
	if err != nil || len(list) != 3 {
		t.Errorf("got %s, %v", list, err)
	}
}
