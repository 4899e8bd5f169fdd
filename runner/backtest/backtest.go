// Package backtest holds the texts of recorded runs against the checks of a
// cascade that has changed since, and tells what they would have done: which
// verdicts are others now, which attempts would have been blocked or tried
// again, and what that saves or adds.
//
// A text is judged as it was given, with what the run knew then: the input, the
// outputs of the phases before it, and the state that set_state, sub-cascades,
// output_extraction and a confirmed question had made. Other answers of a person
// are not among a run's events; a check that reads one may say otherwise than it
// did. Pre-wards see the instructions as the changed cascade renders them. What a
// model would have said to other feedback nobody can know: of the attempts that
// would have come, the number of calls is a lower bound. Phases of cascades
// within a run are not looked at.
package backtest

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A Source has recorded runs. It is safe for concurrent use where a Test works
// on several at a time.
type Source interface {
	// Runs names the runs to look at, in the order of the report.
	Runs(ctx context.Context) ([]string, error)
	// Events gives the events of a run, in order.
	Events(ctx context.Context, run string) iter.Seq2[event.Event, error]
}

// A Test is a cascade to be held against recorded runs.
type Test struct {
	Cascade *cascades.Cascade
	Host    engine.Host // runs validators, and asks the model for judges
	Source  Source
	Model   string // for judges; replaces the cascade's own default

	Judges   bool // ask judges, and cascades that are validators; they cost
	Exec     bool // run validators that are programs, servers or otherwise not pure
	Any      bool // look at runs of cascades with another cascade_id too
	Parallel int  // runs at a time; 1 where less
}

// Run holds every recorded attempt of a phase that the cascade has against its
// checks. An error is the source's or the host's; what a single check could not
// say is in the report.
func (t Test) Run(ctx context.Context) (*Report, error) {
	ids, err := t.Source.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	parts := make([]*part, len(ids))
	err = t.Host.Each(len(ids), max(t.Parallel, 1), func(h engine.Host, i int) error {
		r, err := trace.Fold(t.Source.Events(ctx, ids[i]))
		if err != nil {
			return fmt.Errorf("run %s: %w", ids[i], err)
		}
		if parts[i], err = t.look(h, ids[i], r); err != nil {
			return fmt.Errorf("run %s: %w", ids[i], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.report(parts), nil
}

// allowed tells whether a validator may be asked.
func (t Test) allowed(v *cascades.Validator) bool {
	switch {
	case v.Criteria != nil || v.Cascade != nil:
		return t.Judges
	default:
		return v.Pure || t.Exec
	}
}

// asks tells whether a validator asks a model.
func asks(v *cascades.Validator) bool { return v.Criteria != nil || v.Cascade != nil }

// A part is what one run has for the report.
type part struct {
	other    bool // of another cascade
	gone     int  // visits to phases that the cascade does not have
	attempts int
	wards    map[row]*Counts
	modes    map[row]string // of checks, as they were last met
	changes  []Change
	moves    []*Move
	fates    map[[2]Fate]int
	calls    map[string]calls // by phase
	saved    int              // calls of models, besides those of moves
	added    int
	usage    model.Usage
}

// calls are the model calls of a phase's attempts.
type calls struct{ attempts, calls int }

// look holds one run against the cascade.
func (t Test) look(h engine.Host, id string, r *trace.Run) (*part, error) {
	p := &part{fates: map[[2]Fate]int{}, calls: map[string]calls{}, wards: map[row]*Counts{}, modes: map[row]string{}}
	if p.other = r.CascadeID != t.Cascade.ID && !t.Any; p.other {
		return p, nil
	}
	k := newKnown(id, t.Model, r)
	going := true // the run would have come here
	for i, visit := range r.Phases {
		phase, _ := t.Cascade.Phase(visit.Name)
		if phase == nil && visit.Status != "skipped" {
			p.gone++
		}
		k.before(visit, phase)
		if phase != nil && visit.Status != "skipped" {
			v := &visitTest{Test: t, part: p, run: id, visit: visit, phase: phase, known: k, past: engine.NewPast(h, t.Cascade, phase, &k.state), made: going}
			if err := v.test(); err != nil {
				return nil, err
			}
			if going && v.ended != nil {
				going = false
				v.ended.Saved += callsOf(r.Phases[i+1:])
			}
		}
		k.after(visit, phase)
	}
	return p, nil
}

func callsOf(phases []*trace.Phase) int {
	n := 0
	for _, p := range phases {
		n += p.Usage().Calls
	}
	return n
}
