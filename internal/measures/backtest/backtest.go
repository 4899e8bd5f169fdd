// Package backtest judges the texts of recorded runs by the present checks of a cascade. It takes
// the events of runs ([Source]) and returns a [Result]: the verdicts and the outcomes of attempts
// that would differ, and the model calls that this saves or adds.
//
// A check gets the text with what the run knew at that time: the input, earlier outputs, and the
// state. Answers of a person, except confirmations, are not part of the events, so a check that
// reads them may differ. Pre-wards get the instructions as the present cascade renders them. The
// answer of a model to other feedback is unknown. Therefore the number of added calls is a lower
// bound.
//
// Nested cascades are compared too, if the present cascade has a cascade with the same cascade_id
// in the same place. The input of a sub-cascade or a validator is rendered again. The input of a
// tool is the recorded one. A sub-cascade or a phase's tool that would have ended ends its phase.
// Visits without such a place, or with an unknown input, are counted and not compared.
//
// Begin with visit.go and attempt.go, which follow the course of a run.
package backtest

import (
	"context"
	"fmt"
	"iter"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Source has recorded runs.
type Source struct {
	Runs []string // in the order of the report
	// Events returns the events of a run, in order. It is called concurrently if Test.Parallel is
	// above 1.
	Events func(ctx context.Context, run string) iter.Seq2[event.Event, error]
}

// A Test compares a cascade with recorded runs.
type Test struct {
	Cascade *cascades.Cascade
	Host    engine.Host // runs validators and calls the model of judges
	Source  Source
	Model   string // of judges; replaces the default of the cascade

	Judges   bool // run judges and cascades that are validators, which call models
	Exec     bool // run validators that are programs or servers, or are not pure
	Any      bool // include runs of cascades with another cascade_id
	Parallel int  // maximum number of concurrent runs; at least 1

	collect bool // collect texts, see [Test.Texts]
}

// Run compares every recorded attempt. It returns the errors of the source and the host. A check
// without a verdict is part of the report.
func (t Test) Run(ctx context.Context) (*Result, error) {
	parts, err := t.parts(ctx)
	if err != nil {
		return nil, err
	}
	return t.report(parts), nil
}

func (t Test) parts(ctx context.Context) ([]*part, error) {
	ids := t.Source.Runs
	parts := make([]*part, len(ids))
	err := t.Host.Each(len(ids), max(t.Parallel, 1), func(h engine.Host, i int) error {
		r, err := trace.Fold(t.Source.Events(ctx, ids[i]))
		if err != nil {
			return fmt.Errorf("run %s: %w", ids[i], err)
		}
		if parts[i], err = t.compareRun(h, ids[i], r); err != nil {
			return fmt.Errorf("run %s: %w", ids[i], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return parts, nil
}

// allowed reports whether a validator may run.
func (t Test) allowed(v *cascades.Validator) bool {
	if AsksModel(v) {
		return t.Judges
	}
	return v.Pure || t.Exec
}

// AsksModel reports whether a validator is a judge or a cascade, which may call a model.
func AsksModel(v *cascades.Validator) bool { return v.Criteria != nil || v.Cascade != nil }

// A part is the result of one run.
type part struct {
	other          bool // another cascade
	unknownVisits  int  // visits that were not compared
	attempts       int
	wards          map[row]*Counts
	modes          map[row]string // the last mode of each check
	changes        []Change
	attemptChanges []*AttemptChange
	outcomeCounts  map[[2]Outcome]int
	calls          map[place]calls
	saved          int // model calls, except those of attempt changes
	added          int
	usage          model.Usage
	texts          []Text
}

// A place is a phase of a cascade. cascade is "" for the cascade of the run.
type place struct{ cascade, phase string }

func (p place) String() string {
	if p.cascade == "" {
		return p.phase
	}
	return p.cascade + "/" + p.phase
}

// calls counts the attempts of a phase and their model calls.
type calls struct{ attempts, calls int }

// compareRun compares one run.
func (t Test) compareRun(h engine.Host, id string, r *trace.Run) (*part, error) {
	p := &part{outcomeCounts: map[[2]Outcome]int{}, calls: map[place]calls{}, wards: map[row]*Counts{}, modes: map[row]string{}}
	if p.other = r.CascadeID != t.Cascade.ID && !t.Any; p.other {
		return p, nil
	}
	input, _ := plain(r.Input).(map[string]any)
	l := &level{Test: t, part: p, host: h, run: id, snapshot: newSnapshot(t.Cascade, "backtest:"+id, t.Model, input, nil)}
	_, err := l.visits(r.Phases, true)
	return p, err
}

// A level is one cascade of a run: its own cascade or a nested one.
type level struct {
	Test // Cascade is that of the level
	*part
	host     engine.Host
	run      string
	name     string // of a nested cascade; "" for the cascade of the run
	snapshot *snapshot
}

// visits compares the visits to the phases of one cascade. reached reports whether the run would
// have reached the first visit. It returns the change that would have ended the cascade, or nil.
func (l *level) visits(list []*trace.Phase, going bool) (ended *AttemptChange, err error) {
	for i, visit := range list {
		phase, _ := l.Cascade.Phase(visit.Name)
		switch {
		case visit.Status == "skipped":
		case phase == nil:
			l.unknownVisits += visitsOf(visit)
		default:
			v := &visitTest{level: *l, visit: visit, phase: phase, reached: going, inner: runsWithin(visit)}
			if err := v.test(); err != nil {
				return nil, err
			}
			if going && v.ended != nil {
				going, ended = false, v.ended
				ended.Saved += callsOf(list[i+1:])
			}
		}
		l.snapshot.apply(visit, phase)
	}
	return ended, nil
}

func callsOf(phases []*trace.Phase) int {
	n := 0
	for _, p := range phases {
		n += p.Usage().Calls
	}
	return n
}
