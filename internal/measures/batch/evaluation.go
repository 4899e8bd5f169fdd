package batch

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A Baseline is an earlier batch to compare with.
type Baseline struct {
	Batch string
	// Find returns the result of a run and its input. If there is no such run, it returns
	// [runner.ErrNoRun].
	Find func(ctx context.Context, id string) (engine.Result, map[string]any, error)
}

// earlier returns the sums of the n-th run of a row in the baseline, or zero if its input differs
// or it has not ended.
func (b *Baseline) earlier(ctx context.Context, row Row, n int, input map[string]any) (s RowSums, err error) {
	r, started, err := b.Find(ctx, RunID(b.Batch, row.Number, n))
	switch {
	case errors.Is(err, runner.ErrNoRun):
		return s, nil
	case err != nil:
		return s, err
	}
	if plain, err := schema.Plain(input); err != nil || !reflect.DeepEqual(plain, any(started)) {
		return s, nil
	}
	switch r.Status {
	case engine.Succeeded, engine.Blocked, engine.Exhausted, engine.Failed, engine.OverBudget:
	default:
		return s, nil
	}
	var o Outcome
	o.setResult(r)
	o.judge(row, input)
	s.Add(&o)
	return s, nil
}

// known is the number of consecutive missing rows after which a baseline has no further row.
const known = 1000

// exists returns an error if the baseline does not have any of the first rows.
func (b *Baseline) exists(ctx context.Context, rows int) error {
	for row := 1; row <= min(rows, known); row++ {
		if _, _, err := b.Find(ctx, RunID(b.Batch, row, 1)); !errors.Is(err, runner.ErrNoRun) {
			return err
		}
	}
	return fmt.Errorf("baseline %s: %w with a row of this set", b.Batch, runner.ErrNoRun)
}

// further returns the number of rows of the baseline after the last row of the dataset.
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

// Evaluate runs a batch and counts its outcomes. After an error, the result contains the finished
// runs. If the baseline does not exist, it runs nothing and returns [runner.ErrNoRun].
func (b *Batch) Evaluate(ctx context.Context, runs Runs, baseline *Baseline) (Result, error) {
	own := *b
	own.baseline = baseline
	e := evaluation{tally: newTally(b.Times)}
	for _, p := range b.Cascade.EveryPhase() {
		e.tally.order = append(e.tally.order, p.Name)
	}
	if baseline != nil {
		if err := baseline.exists(ctx, b.Dataset.Count); err != nil {
			return e.tally.Result(), err
		}
		e.comparison = newComparison(baseline.Batch)
	}
	own.Progress = func(o Outcome) {
		e.tally.Add(&o)
		if b.Progress != nil {
			b.Progress(o)
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
	r := e.tally.Result()
	for i, g := range r.Gates {
		if g.Validator == "expr" {
			r.Gates[i].Expr = b.Cascade.Unnamed(g.Phase, g.Moment, g.Index)
		}
	}
	r.Batch, r.CascadeID, r.Dataset, r.Model = b.ID(), b.Cascade.ID, b.Dataset.File, b.Model
	if e.comparison != nil {
		r.Baseline = e.comparison.Done()
		if err == nil {
			var more int
			more, err = baseline.further(ctx, b.Dataset.Count)
			r.Baseline.Unpaired += more
		}
	}
	return r, err
}

// An evaluation collects the consecutive runs of a row.
type evaluation struct {
	tally        *tally
	comparison   *Comparison
	row          int
	earlier, now RowSums
}

func (e *evaluation) add(o *Outcome) {
	if o.Row != e.row {
		e.rowEnds()
		e.row = o.Row
	}
	e.now.Add(o)
	e.earlier = e.earlier.plus(o.earlier)
}

func (e *evaluation) rowEnds() {
	if e.now.Runs > 0 {
		e.tally.Row(e.now)
		if e.comparison != nil {
			e.comparison.Row(e.earlier, e.now)
		}
	}
	e.earlier, e.now = RowSums{}, RowSums{}
}
