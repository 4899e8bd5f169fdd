package runner_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// A full disk stores everything of a run except its end.
type full struct{ *journal.Journal }

type unended struct{ runner.Recording }

func (f full) Begin(s runner.Start) (runner.Recording, error) {
	r, err := f.Journal.Begin(s)
	return unended{r}, err
}

func (u unended) End(engine.Result, *engine.Error) error { return errFull }

var errFull = errors.New("the disk is full")

// A disk that is full from the start stores no run.
type fullAlready struct{ runner.Journal }

func (fullAlready) Begin(runner.Start) (runner.Recording, error) { return nil, errFull }

// If a run cannot begin because it cannot be stored, the error is ErrNotKept
// and has the cause.
func TestBeginUnwritten(t *testing.T) {
	r := newRunner(t, runner.WithJournal(fullAlready{}))
	result, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases:\n  - {name: a, compose: a}"), nil)
	if !errors.Is(err, runner.ErrNotKept) || !errors.Is(err, errFull) || err.Error() != "failed: journal: the disk is full" || result.Status != engine.Failed {
		t.Errorf("got %+v, %v", result, err)
	}
}

// A run whose end is not stored has not succeeded and does not wait for an
// answer. A verdict remains a verdict.
func TestEndUnwritten(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	says := model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "a text", Usage: model.Usage{Calls: 1}}, nil
	})
	r := newRunner(t, runner.WithModel(says), runner.WithModelName("m"), runner.WithJournal(full{j}))
	for rest, want := range map[string]string{
		"": engine.Failed,
		", human_input: {prompt: well, type: confirmation}":  engine.Failed,
		`, wards: {post: [{expr: "false", mode: blocking}]}`: engine.Blocked,
	} {
		result, err := r.Run(t.Context(), parsed(t, r, "cascade_id: c\nphases:\n  - {name: a, instructions: a"+rest+"}"), nil)
		var failure *engine.Error
		if !errors.As(err, &failure) || failure.Code != want || errors.Is(err, errFull) != (want == engine.Failed) {
			t.Errorf("%q: %v", rest, err)
		}
		if errors.Is(err, runner.ErrNotKept) {
			t.Errorf("%q: it can be gone on with", rest)
		}
		if result.Output != nil && want == engine.Failed || result.Error == nil || result.Error.Code != want {
			t.Errorf("%q: %+v", rest, result)
		}
	}
}
