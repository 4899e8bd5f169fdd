package orders

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A Change describes a new run that is made from a stored run. Calls with the same
// request are shared and not repeated.
type Change struct {
	RunID        string         // the name of the new run; "" makes one
	From         string         // the first phase that runs anew; "" shares as much as possible
	Input        map[string]any // replaces the stored values of these names
	CurrentFiles bool           // use the cascade's files as they are now
	Watched      bool           // a person is about to view the run: its models stream from the first call
}

var errNoPhase = NewProblem(http.StatusUnprocessableEntity, "unknown_phase", "the run's cascade has no phase of that name")

// Again makes a new run from a stored one, and returns when the journal has stored it.
// It can use current files only of cascades that are offered.
func (p *Pool) Again(ctx context.Context, id string, change Change) (string, error) {
	run, err := p.o.Store.Run(ctx, id)
	if err != nil {
		return "", err
	}
	start := run.Start
	if change.RunID == "" {
		change.RunID = runner.NewRunID(time.Now())
	}
	fresh := runner.Start{RunID: change.RunID, Model: start.Model, Settings: start.Settings}
	return change.RunID, p.begin(ctx, &job{id: change.RunID, cascade: start.Settings["cascade"]}, func(j runner.Journal) (runFunc, error) {
		r, err := p.o.Runner(fresh, j)
		if err != nil {
			return nil, err
		}
		cascade, err := p.changed(r, start, change)
		if err != nil {
			return nil, err
		}
		input := cascade.Again(start.Input)
		maps.Copy(input, change.Input)
		if wrong := cascade.CheckInput(ctx.Err, input); len(wrong) > 0 {
			return nil, wrong
		}
		return func(ctx context.Context) (engine.Result, error) {
			return r.Run(ctx, cascade, input, p.observe(change.RunID, change.Watched),
				runner.WithRunID(change.RunID), runner.WithParent(start.RunID, change.From), runner.WithSettings(start.Settings))
		}, nil
	})
}

// changed returns the cascade of the new run.
func (p *Pool) changed(r *runner.Runner, start runner.Start, change Change) (*cascades.Cascade, error) {
	cascade, err := r.Unpack(start.Files)
	if change.CurrentFiles {
		file, offered := p.o.Cascades[start.Settings["cascade"]]
		if !offered {
			return nil, ErrNoCascade
		}
		cascade, err = r.Load(file)
	}
	if err != nil {
		return nil, err
	}
	if phase, _ := cascade.Phase(change.From); change.From != "" && phase == nil {
		return nil, errNoPhase
	}
	return cascade, nil
}
