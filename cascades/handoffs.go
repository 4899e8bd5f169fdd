package cascades

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/flow"
	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/keywords"
)

// Chooses reports whether the model chooses the next phase.
func (p *Phase) Chooses() bool {
	plain := 0
	for _, h := range p.Handoffs {
		if h.When != nil {
			continue
		}
		if h.Description != "" {
			return true
		}
		plain++
	}
	return plain > 1
}

// Unasked returns the next phase if the model chooses none and gets no request for
// a choice. It is the only handoff, or the only plain handoff. A plain handoff has
// no condition and no description. A phase without a model takes its first plain
// handoff. Some values of handoff_default exclude the other cases.
func (p *Phase) Unasked() (target string, ok bool) {
	var open, plain []string // handoffs without a condition; those that also have no description
	for _, h := range p.Handoffs {
		if h.When == nil {
			open = append(open, h.Target)
		}
		if h.When == nil && h.Description == "" {
			plain = append(plain, h.Target)
		}
	}
	switch {
	case len(plain) > 0 && p.Instructions == nil, len(plain) == 1 && p.Unchosen == "":
		return plain[0], true
	case len(open) == 1 && len(p.Handoffs) == 1 && (p.Instructions == nil || p.Unchosen != keywords.ChooseFail):
		return open[0], true
	}
	return "", false
}

// MustChoose reports whether the model gets a separate request for a choice. It
// gets the request if no condition holds and it has not chosen a phase.
func (p *Phase) MustChoose() bool {
	_, ok := p.Unasked()
	return p.Instructions != nil && p.Chooses() && !ok
}

// undecided reports whether a phase without a model only has handoffs that a
// model must choose.
func (p *Phase) undecided() bool {
	_, ok := p.Unasked()
	alone := p.Tool != nil || p.Compose != nil || p.Together != nil
	return alone && p.Chooses() && !ok && !p.Conditional() && p.Unchosen != keywords.ChooseFirst
}

// Conditional reports whether a handoff of the phase has a condition.
func (p *Phase) Conditional() bool {
	return slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.When != nil })
}

// ways returns the edges from the i-th phase.
func (c *Cascade) ways(i int) []graphs.Way {
	p := c.Phases[i]
	var out []graphs.Way
	add := func(name string, kind graphs.WayKind, label string) { // the name may be empty
		if to, ok := c.index[name]; ok {
			out = append(out, graphs.Way{From: i, To: to, Kind: kind, Label: label})
		}
	}
	unconditional := 0
	for _, h := range p.Handoffs {
		if h.When != nil {
			add(h.Target, graphs.When, h.When.String())
			continue
		}
		unconditional++
		if p.Chooses() && len(p.Handoffs) > 1 {
			add(h.Target, graphs.Chosen, h.Description)
		} else {
			add(h.Target, graphs.Next, h.Description)
		}
	}
	if i+1 < len(c.Phases) {
		switch next := c.Phases[i+1].Name; {
		case unconditional == 0:
			add(next, graphs.Next, "")
		case p.When != nil && len(p.Handoffs) > 1:
			add(next, graphs.Skipped, "skipped")
		}
	}
	add(p.Rules.Instead(), graphs.Failed, "exhausted")
	add(p.Rules.OnError, graphs.Failed, "failed")
	if h := p.Human; h != nil {
		add(h.OnExpired, graphs.Failed, "expired")
	}
	return out
}

// next returns the phases that can follow each phase.
func (c *Cascade) next() [][]int {
	list := make([][]int, len(c.Phases))
	for i := range c.Phases {
		for _, w := range c.ways(i) {
			note(&list[i], w.To)
		}
	}
	return list
}

// flow returns the phases as a graph for package flow.
func (c *Cascade) flow() *flow.Graph {
	ends := make([]bool, len(c.Phases))
	for i := range c.Phases {
		ends[i] = c.mayEnd(i)
	}
	return flow.New(c.next(), ends)
}

// mayEnd reports whether a run can end after the i-th phase.
func (c *Cascade) mayEnd(i int) bool {
	p := c.Phases[i]
	if slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.Ends }) {
		return true
	}
	leads := slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.When == nil })
	return i == len(c.Phases)-1 && (!leads || p.When != nil && len(p.Handoffs) > 1)
}

// asksInTurn reports whether the phase has the tool ask_human.
func (p *Phase) asksInTurn() bool {
	return slices.ContainsFunc(p.tools(), func(t *Tool) bool { return t.Engine && t.Name == keywords.AskHuman })
}

// Edits reports whether a person edits the text of the phase.
func (p *Phase) Edits() bool { return p.Human != nil && p.Human.Type == Edit }
