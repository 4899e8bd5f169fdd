package journal

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

// unfiled are cascades without files, by the names that their callers gave
// them.
var unfiled = map[string]string{
	"":                       "cascade_id: two\nphases: [{name: a, instructions: a}, {name: b, instructions: '{{ outputs.a }}'}]",
	"memory":                 "cascade_id: one\nphases: [{name: a, instructions: a, wards: {post: [{validator: excludes, with: {text: yes}, mode: blocking}]}}]",
	"a/../b.yaml":            "cascade_id: asks\nphases: [{name: a, instructions: a}, {name: b, instructions: b, human_input: {prompt: ok, type: confirmation}}]",
	"/no/such/folder/x.yaml": "cascade_id: own\nphases: [{name: a, instructions: a, wards: {post: [{validator: mine, mode: retry}]}}]",
}

// A finished run without files returns its whole result again, for any status. Its own
// runner gets it, and so does a runner that does not know its validators.
func TestUnfiledResults(t *testing.T) {
	onFile(t)
	for name, text := range unfiled {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "j.db")
			j := journalAt(t, file, Options{})
			yes := model.Func(func(context.Context, model.Request) (model.Response, error) {
				return model.Response{Text: "yes", Usage: model.Usage{Calls: 1, InputTokens: 3}}, nil
			})
			mine := validators.New("mine", "mine", func(_ context.Context, _ struct{}, _ validators.Subject) (validators.Verdict, error) {
				return validators.Pass("mine"), nil
			})
			r, _ := runner.New(runner.WithJournal(j), runner.WithModel(yes), runner.WithValidators(mine))
			c, err := r.Parse(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			first, cause := r.Run(t.Context(), c, nil, runner.WithRunID("run"))
			if first.Status == engine.Waiting {
				if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
					t.Fatal(err)
				}
				reported := 0
				first, cause = r.Resume(t.Context(), "run", runner.WithSink(event.Func(func(event.Event) { reported++ })))
				if reported == 0 {
					t.Error("who goes on with a run hears nothing of it")
				}
			}
			if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("run")); !errors.Is(err, runner.ErrRunExists) {
				t.Errorf("the name is taken: %v", err)
			}
			j.Close()
			other, _ := runner.New(runner.WithJournal(journalAt(t, file, Options{})))
			for range 2 {
				again, err := other.Resume(t.Context(), "run")
				if !reflect.DeepEqual(again, first) || (err == nil) != (cause == nil) {
					t.Errorf("got\n%+v, %v, want\n%+v, %v", again, err, first, cause)
				}
			}
		})
	}
}
