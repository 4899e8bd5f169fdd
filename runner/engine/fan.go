package engine

import (
	"errors"
	"slices"
)

// fan runs body for 0 to n-1 side by side, at most limit at the same time (0:
// all), each on a branch of the flow, and then takes over what they noted, in
// the order of their numbers. Soundings, the items of each, the phases of
// together and the checks of one moment are all this: work that does not need
// each other. The first error cancels the rest, but not where it is that a person
// is asked, or that the run goes on elsewhere: what is under way beside it, a write
// perhaps, comes to its end. Then the run waits with the first question, in the
// order of the numbers.
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

// branch is a flow that works beside this one, on a copy of its state.
func (f *flow) branch(h Host) *flow {
	s := *f.s // State is never changed in place, so the copy has its own
	s.Verdicts, s.Answers, s.Degraded, s.Phases, s.shared = nil, nil, nil, nil, true
	s.Lineage = slices.Clip(s.Lineage)
	return &flow{h: h, c: f.c, s: &s, meter: f.meter, locals: f.locals}
}

// join takes over what a branch has noted.
func (f *flow) join(b *flow) {
	f.s.Verdicts, f.s.Answers = append(f.s.Verdicts, b.s.Verdicts...), append(f.s.Answers, b.s.Answers...)
	f.s.Degraded = append(f.s.Degraded, b.s.Degraded...)
	f.s.Phases = append(f.s.Phases, b.s.Phases...)
	f.shadows = append(f.shadows, b.shadows...)
	f.turns += b.turns
	f.calls += b.calls
}
