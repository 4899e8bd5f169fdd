package proofs

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/wards"
)

// A successor is a phase that may run next, and the facts there. to is the
// number of phases for the end of the run.
type successor struct {
	to   int
	with *facts
}

// walk follows a cascade from initial facts and returns the facts at its end.
// It visits phases until no facts grow any more. Facts never shrink, and the
// numbers of sources and gates are finite, so the walk ends.
func (a *analyzer) walk(c *cascades.Cascade, begin *facts) *facts {
	key := begin.key()
	if end, done := a.ends[c][key]; done {
		return end
	}
	end, at := newFacts(), make([]*facts, len(c.Phases))
	if len(c.Phases) == 0 { // only hooks
		return end
	}
	at[0] = begin.clone()
	for todo := []int{0}; len(todo) > 0 && !a.exceeded(); {
		i := todo[0]
		todo = todo[1:]
		leads, reasons := a.visit(c, i, at[i].clone())
		end.reasons = end.reasons.union(reasons)
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
		a.ends[c] = map[string]*facts{}
	}
	a.ends[c][key] = end
	return end
}

// visit returns all successors of the i-th phase that the engine may take, and
// the taints of its failure message.
func (a *analyzer) visit(c *cascades.Cascade, i int, in *facts) (out []successor, reasons taints) {
	p := c.Phases[i]
	named := func(name string) int {
		if _, to := c.Phase(name); to >= 0 {
			return to
		}
		return len(c.Phases)
	}
	if p.When != nil {
		skipped := in.clone()
		skipped.reasons = nil
		to := i + 1
		if len(p.Handoffs) == 1 && p.Handoffs[0].When == nil {
			to = named(p.Handoffs[0].Target)
		}
		out = append(out, successor{to, skipped})
	}
	r := a.pass(c, p, in)
	// An attempt, item or check may read files of the previous one.
	again := newFacts()
	again.files = r.left.files
	out = append(out, successor{i, again})
	if on := p.Rules.Instead(); on != "" {
		out = append(out, successor{named(on), r.left})
	}
	if p.Rules.OnError != "" {
		out = append(out, successor{named(p.Rules.OnError), r.left})
	}
	if p.Human != nil && p.Human.OnExpired != "" {
		out = append(out, successor{named(p.Human.OnExpired), r.left})
	}
	r.with.reasons = nil
	return append(out, r.successors(p, named, i+1)...), r.left.reasons
}

// successors returns the successors of a phase that has released its output.
// For a phase that is a gate, the text has passed the gate only on the paths of
// its verdict.
func (r *visitResult) successors(p *cascades.Phase, named func(string) int, next int) (out []successor) {
	with := r.with
	if r.mode.Enforces() {
		with = r.afterGate(with)
	}
	plain := false
	for _, h := range p.Handoffs {
		if h.When == nil {
			plain = true
			continue
		}
		yes, no := verdictCondition(h.When.String())
		switch {
		case r.mode == wards.Advisory && yes:
			out = append(out, successor{named(h.Target), r.afterGate(with)})
		case r.mode == wards.Advisory && no:
			out = append(out, successor{named(h.Target), with})
			with = r.afterGate(with) // the remaining paths imply that the gate has passed
		default:
			out = append(out, successor{named(h.Target), with})
		}
	}
	for _, h := range p.Handoffs {
		if h.When == nil {
			out = append(out, successor{named(h.Target), with})
		}
	}
	if !plain {
		out = append(out, successor{next, with})
	}
	return out
}

// verdictCondition reports whether a condition means that the verdict is valid
// (yes) or invalid (no). For any other condition both are false.
func verdictCondition(when string) (yes, no bool) {
	switch strings.Join(strings.Fields(strings.Trim(when, "() \t\n")), "") {
	case "output.valid", "output.valid==true", "true==output.valid":
		return true, false
	case "!output.valid", "notoutput.valid", "output.valid==false", "false==output.valid", "output.valid!=true":
		return false, true
	}
	return false, false
}

// A visitResult is the possible results of a visit to a phase.
type visitResult struct {
	with *facts     // the output was released
	left *facts     // the phase ended without one
	mode wards.Mode // of a phase that is a gate, else empty
	gate int        // number of the gate
	vars []gatedVar // the variables that it checks
}

// A gatedVar is a variable whose whole value a gate checks.
type gatedVar struct{ root, name string }

// afterGate returns the facts after the gate has passed.
func (r *visitResult) afterGate(s *facts) *facts {
	s = s.clone()
	for _, j := range r.vars {
		if v := s.vars(j.root); v != nil {
			v.set(j.name, v.get(j.name).throughGates(r.gate))
		}
	}
	return s
}
