package engine

import (
	"errors"
	"slices"
)

// fan runs body for 0 to n-1 in parallel, each on its own branch of the flow.
// At most limit branches run at once; 0 means no limit. It then merges the
// records of all branches in order. Soundings, items, groups and checks all use
// fan.
//
// The first error cancels the other branches. If a branch waits for a person,
// or the run must continue elsewhere, the other branches finish, because they
// may be writing. The run then waits with the first question, in order.
func (f *flow) fan(n, limit int, body func(b *flow, i int) error) error {
	branches := make([]*flow, n)
	waiting, broken := make([]error, n), make([]*Error, n)
	err := f.h.Each(n, limit, func(h Host, i int) error {
		branches[i] = f.branch(h)
		err := body(branches[i], i)
		if errors.Is(err, ErrSuspended) || errors.Is(err, ErrYield) {
			waiting[i] = err
			return nil
		}
		broken[i] = broke(err)
		return err
	})
	for _, b := range branches {
		if b != nil {
			f.join(b)
		}
	}
	if asks := slices.IndexFunc(waiting, func(err error) bool { return err != nil }); err == nil && asks >= 0 {
		return waiting[asks]
	}
	if first := broke(err); first != nil {
		for _, e := range broken {
			if e != nil && e != first {
				first.with(e)
			}
		}
	}
	return err
}

// branch returns a flow for parallel work, with a copy of the state.
func (f *flow) branch(h Host) *flow {
	s := *f.s // State is never changed in place, so a shallow copy is enough
	s.Verdicts, s.Answers, s.Degraded, s.Phases, s.shared = nil, nil, nil, nil, true
	s.Lineage = slices.Clip(s.Lineage)
	return &flow{h: h, c: f.c, s: &s, meter: f.meter, locals: f.locals, history: f.history}
}

// join merges the records of a branch.
func (f *flow) join(b *flow) {
	f.s.Verdicts, f.s.Answers = append(f.s.Verdicts, b.s.Verdicts...), append(f.s.Answers, b.s.Answers...)
	f.s.Degraded = append(f.s.Degraded, b.s.Degraded...)
	f.s.Phases = append(f.s.Phases, b.s.Phases...)
	f.shadows = append(f.shadows, b.shadows...)
	f.turns += b.turns
	f.calls += b.calls
}
