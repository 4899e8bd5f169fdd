package journal

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
)

// The run and the list show the whole reason of a failure, without secrets.
func TestLongReason(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Secrets: map[string]string{"KEY": "hush-hush"}})
	long := strings.Repeat("this is why. ", 500)
	m := model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Failure: &model.Failure{Class: model.Rejected, Message: long + "hush-hush"}}, nil
	})
	if _, err := runnerOver(t, j, m).Run(t.Context(), load(t, twoPhases), map[string]any{"topic": "owls"}, runner.WithRunID("run")); err == nil {
		t.Fatal("it did not fail")
	}
	run, err := j.Run(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	list, err := j.Runs(t.Context(), Filter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d runs, %v", len(list), err)
	}
	for _, s := range []Summary{run.Summary, list[0]} {
		if s.Error == nil || !strings.Contains(s.Error.Message, long) || strings.Contains(s.Error.Message, "hush-hush") {
			t.Errorf("got %+v", s.Error)
		}
	}
}
