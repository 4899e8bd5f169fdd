package cascades

import "strings"

// A way leads from one phase to another.
type way struct {
	from, to int
	kind     wayKind
	label    string // a condition, a description
	taken    int    // how often a run took it
}

type wayKind int

const (
	wayNext      wayKind = iota // the next in the file, or a plain handoff
	wayWhen                     // a handoff with a condition
	wayChosen                   // a handoff that the model picks
	wayExhausted                // where on_exhausted, on_error or on_expired goes
	waySkipped                  // past a phase whose when is false
)

// ways lists every way out of the i-th phase, as a run may take it.
func (c *Cascade) ways(i int) []way {
	p := c.Phases[i]
	var out []way
	add := func(name string, kind wayKind, label string) {
		if to, ok := c.index[name]; ok {
			out = append(out, way{from: i, to: to, kind: kind, label: label})
		}
	}
	unconditional := 0
	for _, h := range p.Handoffs {
		if h.When != nil {
			add(h.Target, wayWhen, h.When.String())
			continue
		}
		unconditional++
		if p.Chooses() && len(p.Handoffs) > 1 {
			add(h.Target, wayChosen, h.Description)
		} else {
			add(h.Target, wayNext, h.Description)
		}
	}
	if i+1 < len(c.Phases) {
		switch next := c.Phases[i+1].Name; {
		case unconditional == 0:
			add(next, wayNext, "")
		case p.When != nil && len(p.Handoffs) > 1:
			add(next, waySkipped, "skipped")
		}
	}
	if on := p.Rules.OnExhausted; on != OnExhaustedFail && on != OnExhaustedLast && on != OnExhaustedBest {
		add(on, wayExhausted, "exhausted")
	}
	if on := p.Rules.OnError; on != "" {
		add(on, wayExhausted, "failed")
	}
	if h := p.Human; h != nil && h.OnExpired != "" {
		add(h.OnExpired, wayExhausted, "expired")
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
