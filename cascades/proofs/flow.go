package proofs

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/wards"
)

// A lead is where a run may go on behind a phase, with what; to is behind the last phase for the end.
type lead struct {
	to   int
	with *spot
}

// walk follows a cascade that is begun at a spot, and gives what it may end with.
// It visits phases until what may stand at each does not grow any more: it never
// shrinks, and there are only so many sources and gates, so that this comes to an end.
func (a *prover) walk(c *cascades.Cascade, begin *spot) *spot {
	key := begin.key()
	if end, done := a.ends[c][key]; done {
		return end
	}
	end, at := newSpot(), make([]*spot, len(c.Phases))
	if len(c.Phases) == 0 { // hooks alone
		return end
	}
	at[0] = begin.clone()
	for todo := []int{0}; len(todo) > 0 && !a.beyond(); {
		i := todo[0]
		todo = todo[1:]
		leads, said := a.visit(c, i, at[i].clone())
		end.said = end.said.and(said)
		for _, l := range leads {
			a.work += l.with.size()
			switch {
			case l.to == len(c.Phases):
				end.join(l.with)
			case at[l.to] == nil:
				at[l.to] = l.with.clone()
				todo = append(todo, l.to)
			case at[l.to].join(l.with) && !slices.Contains(todo, l.to):
				todo = append(todo, l.to)
			}
		}
	}
	if a.ends[c] == nil {
		a.ends[c] = map[string]*spot{}
	}
	a.ends[c][key] = end
	return end
}

// visit gives every way on from the i-th phase, as the engine may take it, and
// what may be said of why it was left.
func (a *prover) visit(c *cascades.Cascade, i int, in *spot) (out []lead, said strands) {
	p := c.Phases[i]
	named := func(name string) int {
		if _, to := c.Phase(name); to >= 0 {
			return to
		}
		return len(c.Phases)
	}
	if p.When != nil {
		skipped := in.clone()
		skipped.said = nil
		to := i + 1
		if len(p.Handoffs) == 1 && p.Handoffs[0].When == nil {
			to = named(p.Handoffs[0].Target)
		}
		out = append(out, lead{to, skipped})
	}
	r := a.pass(c, p, in)
	// What one attempt, item or check has written, the next may read.
	again := newSpot()
	again.files = r.left.files
	out = append(out, lead{i, again})
	if on := p.Rules.Instead(); on != "" {
		out = append(out, lead{named(on), r.left})
	}
	if p.Rules.OnError != "" {
		out = append(out, lead{named(p.Rules.OnError), r.left})
	}
	if p.Human != nil && p.Human.OnExpired != "" {
		out = append(out, lead{named(p.Human.OnExpired), r.left})
	}
	r.with.said = nil
	return append(out, r.leads(p, named, i+1)...), r.left.said
}

// leads are the ways behind a phase that has released its output. Behind one that
// is a gate, whose handoffs decide by its verdict, the text has passed only where
// they say so.
func (r *passage) leads(p *cascades.Phase, named func(string) int, next int) (out []lead) {
	with := r.with
	if r.mode.Stands() {
		with = r.passed(with)
	}
	plain := false
	for _, h := range p.Handoffs {
		if h.When == nil {
			plain = true
			continue
		}
		yes, no := verdictAsked(h.When.String())
		switch {
		case r.mode == wards.Advisory && yes:
			out = append(out, lead{named(h.Target), r.passed(with)})
		case r.mode == wards.Advisory && no:
			out = append(out, lead{named(h.Target), with})
			with = r.passed(with) // who is not led away here has the gate's yes
		default:
			out = append(out, lead{named(h.Target), with})
		}
	}
	for _, h := range p.Handoffs {
		if h.When == nil {
			out = append(out, lead{named(h.Target), with})
		}
	}
	if !plain {
		out = append(out, lead{next, with})
	}
	return out
}

// verdictAsked tells whether a condition is that the verdict is a yes, or that it
// is not. Of any other it is not known what it lets by.
func verdictAsked(when string) (yes, no bool) {
	switch strings.Join(strings.Fields(strings.Trim(when, "() \t\n")), "") {
	case "output.valid", "output.valid==true", "true==output.valid":
		return true, false
	case "!output.valid", "notoutput.valid", "output.valid==false", "false==output.valid", "output.valid!=true":
		return false, true
	}
	return false, false
}

// A passage is what a visit to a phase may come to.
type passage struct {
	with *spot      // it has released its output
	left *spot      // it was left without one
	mode wards.Mode // of a phase that is a gate; "" of others
	own  int        // the gate
	of   []judged   // what it judges
}

// A judged is a variable whose whole value a gate is given.
type judged struct{ root, name string }

// passed is the spot behind the gate's yes.
func (r *passage) passed(s *spot) *spot {
	s = s.clone()
	for _, j := range r.of {
		if v := s.vars(j.root); v != nil {
			v.set(j.name, v.get(j.name).past(r.own))
		}
	}
	return s
}
