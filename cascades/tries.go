package cascades

import (
	"fmt"
	"strings"
)

// TriesName is what the soundings of a file are called in paths and events.
const TriesName = "soundings"

// ofPhases are the keys of soundings that make one text of several: a run is what
// one try has left.
var ofPhases = []string{"mode", "aggregator_instructions"}

// tries reads the soundings of the file. They are those of a phase whose tool is
// the cascade without them: a try is given the run's input and state, and what the
// winner leaves is the run's. What stands for the phase's instructions, to be varied
// and improved, is what the whole is asked: its description and its input.
func (p *parser) tries(o *object) {
	of := o.child("soundings")
	if of == nil {
		return
	}
	s := p.soundings(of)
	for _, key := range ofPhases {
		switch n := of.value[key]; {
		case n == nil, key == "mode" && n.Value == "evaluate":
		default:
			o.p.report(of.keys[key], CodeConflict, "%s is for the soundings of a phase: a run is what one try at the whole has left; a last phase with soundings puts texts together", key)
		}
	}
	if line, there := p.lineOf[TriesName]; there {
		p.report(o.keys["soundings"], CodeConflict, "with soundings of the file no phase can be called %q, as at line %d: in paths they are called so", TriesName, line)
	}
	c := p.cascade
	one := *c
	one.Model, one.Budget = nil, Budget{MaxPhases: c.Budget.MaxPhases}
	c.Tries = &Phase{
		Name: TriesName, Position: p.position(of.node), Soundings: s, Tool: &Tool{Name: c.ID, Cascade: &one},
		Rules: Rules{MaxTurns: 1, MaxAttempts: 1, OnExhausted: OnExhaustedFail},
	}
}

// tried says how often the whole is done, and which try a run has picked; "" where
// it is done once.
func (c *Cascade) tried(m *Marks) string {
	if c.Tries == nil {
		return ""
	}
	s := c.Tries.Soundings
	parts := []string{fmt.Sprintf("the whole: %d soundings", s.Factor)}
	if s.Reforge != nil {
		parts = append(parts, fmt.Sprintf("%d × %d to improve it", s.Reforge.Steps, s.Reforge.Factor))
	}
	if s.Filter != nil {
		parts = append(parts, "through "+oneLine(s.Filter.Ward.Name, 30))
	}
	if s.Evaluator != nil {
		parts = append(parts, "a model picks")
	}
	if m != nil && m.Won > 0 {
		parts = append(parts, fmt.Sprintf("try %d won", m.Won))
	}
	return strings.Join(parts, " · ")
}

// varied tells whether tries at the whole are asked otherwise than the first.
func (p *Phase) varied() bool {
	return p != nil && (p.Soundings.Mutation != "" || p.Soundings.Reforge != nil)
}
