package orders

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
)

// A Change says what is to be different in a run that is made of a kept one. What
// is the same in both is shared: a call with the same request is not made again.
type Change struct {
	RunID   string         // the new run's name
	From    string         // the phase from which on everything is done anew; "" shares what it can
	Input   map[string]any // in place of the kept one's values of these names
	Changed bool           // with the cascade's files as they are now
	Watched bool           // somebody is about to look at the run: its models stream from the first call on
}

// errNoPhase says that a run has no phase of that name to begin from.
var errNoPhase = errors.New("the run's cascade has no phase of that name")

// Again makes a new run of a kept one, and returns when the journal has it. Its
// errors are those of Start and [errNoPhase]; a cascade's files are taken as they
// are now only of one that is offered.
func (c *Crew) Again(ctx context.Context, id string, change Change) (string, error) {
	start, err := c.o.Starts(ctx, id)
	if err != nil {
		return "", err
	}
	if change.RunID == "" {
		change.RunID = runner.NewRunID(time.Now())
	}
	fresh := runner.Start{RunID: change.RunID, Model: start.Model, Settings: start.Settings}
	return change.RunID, c.send(ctx, &hand{id: change.RunID}, func(opened *opening) (making, error) {
		r, err := c.o.Runner(fresh, opened)
		if err != nil {
			return nil, err
		}
		cascade, err := c.again(r, start, change)
		if err != nil {
			return nil, err
		}
		input := cascade.Again(start.Input)
		maps.Copy(input, change.Input)
		if wrong := cascade.CheckInput(ctx.Err, input); len(wrong) > 0 {
			return nil, wrong
		}
		return func(ctx context.Context) (runner.Result, error) {
			return r.Run(ctx, cascade, input, c.drafts.hear(change.RunID, change.Watched),
				runner.WithRunID(change.RunID), runner.WithParent(start.RunID, change.From), runner.WithSettings(start.Settings))
		}, nil
	})
}

// again is the cascade of a run that is made of a kept one.
func (c *Crew) again(r *runner.Runner, start runner.Start, change Change) (*cascades.Cascade, error) {
	cascade, err := r.Unpack(start.Files)
	if change.Changed {
		file, offered := c.o.Cascades[start.Settings["cascade"]]
		if !offered {
			return nil, ErrNoCascade
		}
		cascade, err = c.shelf.load(r, file)
	}
	if err != nil {
		return nil, err
	}
	if p, _ := cascade.Phase(change.From); change.From != "" && p == nil {
		return nil, errNoPhase
	}
	return cascade, nil
}
