package cascades

import (
	"strings"

	"github.com/seed61713e19/capstan/cascades/graphs"
)

// ways lists every way out of the i-th phase, as a run may take it.
func (c *Cascade) ways(i int) []graphs.Way {
	p := c.Phases[i]
	var out []graphs.Way
	add := func(name string, kind graphs.WayKind, label string) { // no phase is called ""
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

// oneLine puts a text on one line of at most n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n-1])) + "…"
	}
	return s
}
