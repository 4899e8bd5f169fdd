package batch

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Baseline is an earlier batch to hold this one against.
type Baseline struct {
	Batch string
	// Find returns what a run of it came to, and the input that it was begun with;
	// [runner.ErrNoRun] where there is none.
	Find func(ctx context.Context, id string) (runner.Result, map[string]any, error)
}

// was is what the n-th run of a row came to in the baseline; of another input, or
// where it has not ended, nothing.
func (b *Baseline) was(ctx context.Context, row Row, n int, input map[string]any) (s Shares, err error) {
	r, began, err := b.Find(ctx, RunID(b.Batch, row.Number, n))
	switch {
	case errors.Is(err, runner.ErrNoRun):
		return s, nil
	case err != nil:
		return s, err
	}
	if plain, err := schema.Plain(input); err != nil || !reflect.DeepEqual(plain, any(began)) {
		return s, nil
	}
	switch r.Status {
	case runner.Succeeded, runner.Blocked, runner.Exhausted, runner.Failed, runner.OverBudget:
	default:
		return s, nil
	}
	var o Outcome
	o.note(r)
	o.judge(row, input)
	s.Add(&o)
	return s, nil
}

// known bounds how many rows are looked for in a baseline before anything is paid.
const known = 1000

// there tells whether the baseline has any of the first rows.
func (b *Baseline) there(ctx context.Context, rows int) error {
	for row := 1; row <= min(rows, known); row++ {
		if _, _, err := b.Find(ctx, RunID(b.Batch, row, 1)); !errors.Is(err, runner.ErrNoRun) {
			return err
		}
	}
	return fmt.Errorf("baseline %s: %w with a row of this set", b.Batch, runner.ErrNoRun)
}

// further is how many rows the baseline has behind those of a set of so many rows;
// where a thousand have none, there are no more.
func (b *Baseline) further(ctx context.Context, rows int) (more int, err error) {
	for row, missing := rows+1, 0; missing < known; row++ {
		switch _, _, err := b.Find(ctx, RunID(b.Batch, row, 1)); {
		case errors.Is(err, runner.ErrNoRun):
			missing++
		case err != nil:
			return more, err
		default:
			more, missing = more+1, 0
		}
	}
	return more, nil
}

// Evaluate runs a batch and counts what it comes to; the batch's own Told and
// Result are called too. The report is of what was done, whatever the error; [runner.ErrNoRun]
// says that there is no such baseline, and nothing was done.
func (b *Batch) Evaluate(ctx context.Context, runs Runs, against *Baseline) (Report, error) {
	own := *b
	own.against = against
	e := evaluation{tally: newTally(b.Times)}
	for _, p := range b.Cascade.EveryPhase() {
		e.tally.order = append(e.tally.order, p.Name)
	}
	if against != nil {
		if err := against.there(ctx, b.Set.Count); err != nil {
			return e.tally.Report(), err
		}
		e.comparison = newComparison(against.Batch)
	}
	own.Told = func(o Outcome) {
		e.tally.Add(&o)
		if b.Told != nil {
			b.Told(o)
		}
	}
	own.Result = func(o Outcome) error {
		e.add(&o)
		if b.Result != nil {
			return b.Result(o)
		}
		return nil
	}
	err := own.Run(ctx, runs)
	e.rowEnds()
	r := e.tally.Report()
	for i, g := range r.Gates {
		if g.Validator == "expr" {
			r.Gates[i].Expr = b.Cascade.Unnamed(g.Phase, g.Moment, g.Index)
		}
	}
	r.Batch, r.CascadeID, r.Set, r.Model = b.ID(), b.Cascade.ID, b.Set.File, b.Model
	if e.comparison != nil {
		r.Baseline = e.comparison.Done()
		if err == nil {
			var more int
			more, err = against.further(ctx, b.Set.Count)
			r.Baseline.Unpaired += more
		}
	}
	return r, err
}

// An evaluation puts the runs of a row together, which come one behind the other.
type evaluation struct {
	tally      *tally
	comparison *Comparison
	row        int
	was, now   Shares
}

func (e *evaluation) add(o *Outcome) {
	if o.Row != e.row {
		e.rowEnds()
		e.row = o.Row
	}
	e.now.Add(o)
	e.was = e.was.plus(o.was)
}

func (e *evaluation) rowEnds() {
	if e.now.Runs > 0 {
		e.tally.Row(e.now)
		if e.comparison != nil {
			e.comparison.Row(e.was, e.now)
		}
	}
	e.was, e.now = Shares{}, Shares{}
}
