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
// would have come, the number of calls is a lower bound. An attempt whose turns
// would have ended earlier is judged by the text that it gave.
//
// Cascades within a run are looked at as the run is, wherever the changed cascade
// has one of that cascade_id in the same use: each with the input that it was
// given (a sub-cascade's and a validator's as the changed cascade makes it, a
// tool's as it was recorded), and state and outputs of its own. One that would
// have ended takes its phase with it where it is a sub-cascade or the phase's
// tool. A validator could not have said what was recorded of it. A tool that a
// model called would have failed, which leaves the attempt what it was: here too
// the calls are a lower bound. Visits that have no such place, or of whose input
// too little is known, are not looked at, but counted; what they set is known to
// what comes after them.
//
// Begin here, then visit.go and attempt.go, which go the way that a run goes.
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

	collect bool // texts, see [Test.Texts]
}

// Run holds every recorded attempt of a phase that the cascade has against its
// checks. An error is the source's or the host's; what a single check could not
// say is in the report.
func (t Test) Run(ctx context.Context) (*Report, error) {
	parts, err := t.parts(ctx)
	if err != nil {
		return nil, err
	}
	return t.report(parts), nil
}

// parts looks at every run.
func (t Test) parts(ctx context.Context) ([]*part, error) {
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
	return parts, nil
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
	strange  int  // visits that were not looked at
	attempts int
	wards    map[row]*Counts
	modes    map[row]string // of checks, as they were last met
	changes  []Change
	moves    []*Move
	fates    map[[2]Fate]int
	calls    map[place]calls
	saved    int // calls of models, besides those of moves
	added    int
	usage    model.Usage
	texts    []Text
}

// A place is a phase of a cascade: of the run's own where that is "".
type place struct{ cascade, phase string }

func (p place) String() string {
	if p.cascade == "" {
		return p.phase
	}
	return p.cascade + "/" + p.phase
}

// calls are the model calls of a phase's attempts.
type calls struct{ attempts, calls int }

// look holds one run against the cascade.
func (t Test) look(h engine.Host, id string, r *trace.Run) (*part, error) {
	p := &part{fates: map[[2]Fate]int{}, calls: map[place]calls{}, wards: map[row]*Counts{}, modes: map[row]string{}}
	if p.other = r.CascadeID != t.Cascade.ID && !t.Any; p.other {
		return p, nil
	}
	input, _ := plain(r.Input).(map[string]any)
	l := &level{Test: t, part: p, host: h, run: id, known: begin(t.Cascade, "backtest:"+id, t.Model, input, nil)}
	_, err := l.visits(r.Phases, true)
	return p, err
}

// A level is one cascade of a run: its own, or one that ran within it.
type level struct {
	Test // with the level's cascade
	*part
	host  engine.Host
	run   string
	name  string // of the cascade within the run's own; "" for the run's own
	known *known
}

// visits holds the visits of one cascade against it, in turn. Going says that
// the run would have come to the first; ended is the move that would have ended
// the cascade, nil where none would.
func (l *level) visits(list []*trace.Phase, going bool) (ended *Move, err error) {
	for i, visit := range list {
		phase, _ := l.Cascade.Phase(visit.Name)
		switch {
		case visit.Status == "skipped":
		case phase == nil:
			l.strange += visitsOf(visit)
		default:
			v := &visitTest{level: *l, visit: visit, phase: phase, made: going, inner: runsWithin(visit)}
			if err := v.test(); err != nil {
				return nil, err
			}
			if going && v.ended != nil {
				going, ended = false, v.ended
				ended.Saved += callsOf(list[i+1:])
			}
		}
		l.known.after(visit, phase)
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
