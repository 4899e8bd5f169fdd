package trace

import (
	"iter"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// within are the visits within this one, outside its attempts.
func (p *Phase) within() []*Phase { return slices.Concat(p.Phases, p.Branches) }

// All walks every phase of the run, each before its items, the phases of its
// group and those of the cascades within it.
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

// Attempt is the attempt at an address, nil where there is none.
func (r *Run) Attempt(at event.Path) *Attempt {
	for p := range r.All() {
		if a := p.Attempt(at); a != nil {
			return a
		}
	}
	return nil
}

// Attempt is the visit's own at an address, nil where there is none.
func (p *Phase) Attempt(at event.Path) *Attempt {
	for _, a := range p.Texts() {
		if a.Path == at {
			return a
		}
	}
	return nil
}

// Usage is what the visit spent, cascades within it included.
func (p *Phase) Usage() model.Usage {
	u := spent(p.Calls).Add(spentWithin(p.within()))
	for _, a := range p.Texts() {
		u = u.Add(a.Usage())
	}
	return u
}

// Counts returns the number of the visit's last attempt, and the turns of all its attempts.
// Those of its items count too, and the turns of a group's phases.
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

// Usage is what the attempt spent, judges and cascades within it included.
func (a *Attempt) Usage() model.Usage {
	u := spent(a.Calls).Add(spentWithin(a.Phases))
	for _, t := range a.Turns {
		u = u.Add(t.Usage())
	}
	return u
}

// Usage is what the turn's own calls spent. Cascades within it are counted with
// its attempt.
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

// Took is how long the visit took; 0 while it goes on.
func (p *Phase) Took() time.Duration { return took(p.Started, p.Finished) }

// Took is how long the attempt took; 0 while it goes on.
func (a *Attempt) Took() time.Duration { return took(a.Started, a.Finished) }

// From is the address that the call was made from: of a turn, or of one taken again.
// The call to a fallback model is below the call that gave no answer.
func (c *Call) From() event.Path {
	from := c.Path.Parent()
	if name, _, _ := event.SplitIndex(from.Last()); name == "model" {
		from = from.Parent()
	}
	return from
}

// Took is how long the call took; 0 while it goes on.
func (c *Call) Took() time.Duration { return took(c.Started, c.Finished) }

// Took is how long the tool took; 0 while it goes on.
func (u *Use) Took() time.Duration { return took(u.Started, u.Finished) }

func took(from, to time.Time) time.Duration {
	if to.IsZero() || from.IsZero() {
		return 0
	}
	return max(to.Sub(from), 0)
}

// Text is the author's last words in the turn, "" before there are any.
func (t *Turn) Text() string {
	text := ""
	for _, c := range t.Calls {
		if c.Validator == "" && c.Role == "" && c.Response != nil {
			text = c.Response.Text
		}
	}
	return text
}

// A Version is an attempt beside the one that it improves on.
type Version struct {
	Attempt *Attempt
	Before  *Attempt // the one before it in the same conversation; nil for the first
}

// Versions pairs each attempt with the one before it, for comparing their
// texts. Soundings are conversations of their own.
func (p *Phase) Versions() []Version {
	last := map[int]*Attempt{}
	list := make([]Version, 0, len(p.Attempts))
	for _, a := range p.Attempts {
		list = append(list, Version{a, last[a.Sounding]})
		last[a.Sounding] = a
	}
	return list
}
