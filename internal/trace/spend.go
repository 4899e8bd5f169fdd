package trace

import (
	"iter"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// within returns the visits within this visit, except those of its attempts.
func (p *Phase) within() []*Phase { return slices.Concat(p.Phases, p.Branches) }

// All returns an iterator over the phases of the run. A phase precedes its items,
// the phases of its group and the phases of its nested cascades.
func (r *Run) All() iter.Seq[*Phase] {
	return func(yield func(*Phase) bool) { walk(r.Phases, yield) }
}

func walk(list []*Phase, yield func(*Phase) bool) bool {
	for _, p := range list {
		if !yield(p) || !walk(p.within(), yield) {
			return false
		}
		for _, a := range p.Texts() {
			if !walk(a.Phases, yield) {
				return false
			}
		}
	}
	return true
}

// Attempt returns the attempt at a path, or nil.
func (r *Run) Attempt(at event.Path) *Attempt {
	for p := range r.All() {
		if a := p.Attempt(at); a != nil {
			return a
		}
	}
	return nil
}

// Attempt returns the attempt of the visit at a path, or nil.
func (p *Phase) Attempt(at event.Path) *Attempt {
	for _, a := range p.Texts() {
		if a.Path == at {
			return a
		}
	}
	return nil
}

// Usage returns the usage of the visit, including its nested cascades.
func (p *Phase) Usage() model.Usage {
	u := spent(p.Calls).Add(spentWithin(p.within()))
	for _, a := range p.Texts() {
		u = u.Add(a.Usage())
	}
	return u
}

// Counts returns the number of the last attempt of the visit and the number of turns.
// The attempts and turns of items are included, and the turns of the phases of a group.
func (p *Phase) Counts() (attempts, turns int) {
	for _, a := range p.Attempts {
		attempts, turns = max(attempts, a.Number), turns+len(a.Turns)
	}
	for _, b := range p.Branches {
		n, more := b.Counts()
		if turns += more; b.Item >= 0 {
			attempts = max(attempts, n)
		}
	}
	return attempts, turns
}

// Usage returns the usage of the attempt, including its judges and nested cascades.
func (a *Attempt) Usage() model.Usage {
	u := spent(a.Calls).Add(spentWithin(a.Phases))
	for _, t := range a.Turns {
		u = u.Add(t.Usage())
	}
	return u
}

// Usage returns the usage of the calls of the turn. The usage of the attempt
// includes its nested cascades.
func (t *Turn) Usage() model.Usage { return spent(t.Calls) }

func spent(calls []*Call) model.Usage {
	var u model.Usage
	for _, c := range calls {
		if c.Response != nil {
			u = u.Add(c.Response.Usage)
		}
	}
	return u
}

func spentWithin(phases []*Phase) model.Usage {
	var u model.Usage
	for _, p := range phases {
		u = u.Add(p.Usage())
	}
	return u
}

// Took returns the duration of the visit, or 0 before its end.
func (p *Phase) Took() time.Duration { return took(p.Started, p.Finished) }

// Took returns the duration of the attempt, or 0 before its end.
func (a *Attempt) Took() time.Duration { return took(a.Started, a.Finished) }

// From returns the path of the caller, such as a turn or a repeated turn. The path of a
// call to a fallback model begins with the path of the failed call.
func (c *Call) From() event.Path {
	from := c.Path.Parent()
	if name, _, _ := event.SplitIndex(from.Last()); name == "model" {
		from = from.Parent()
	}
	return from
}

// Took returns the duration of the call, or 0 before its end.
func (c *Call) Took() time.Duration { return took(c.Started, c.Finished) }

// Took returns the duration of the tool call, or 0 before its end.
func (u *Use) Took() time.Duration { return took(u.Started, u.Finished) }

func took(from, to time.Time) time.Duration {
	if to.IsZero() || from.IsZero() {
		return 0
	}
	return max(to.Sub(from), 0)
}

// Text returns the last reply of the phase's model in the turn, or "".
func (t *Turn) Text() string {
	text := ""
	for _, c := range t.Calls {
		if c.Validator == "" && c.Role == "" && c.Response != nil {
			text = c.Response.Text
		}
	}
	return text
}

// A Version is an attempt with the previous attempt.
type Version struct {
	Attempt *Attempt
	Before  *Attempt // the previous attempt of the same conversation; nil for the first
}

// Versions returns each attempt with the previous attempt, for a comparison of
// their texts. Each sounding is a separate conversation.
func (p *Phase) Versions() []Version {
	last := map[int]*Attempt{}
	list := make([]Version, 0, len(p.Attempts))
	for _, a := range p.Attempts {
		list = append(list, Version{a, last[a.Sounding]})
		last[a.Sounding] = a
	}
	return list
}
