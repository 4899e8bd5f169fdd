package cascades

// TriesName is what the soundings of a file are called in paths and events.
const TriesName = "soundings"

// ofPhases are the keys of soundings that vary or improve a phase's instructions,
// which a whole cascade does not have.
var ofPhases = []string{"mutate", "mutations", "mutation_mode", "reforge", "mode", "aggregator_instructions"}

// tries reads the soundings of the file. They are those of a phase whose tool is
// the cascade without them: a try is given the run's input and state, and what the
// winner leaves is the run's.
func (p *parser) tries(o *object) {
	of := o.child("soundings")
	if of == nil {
		return
	}
	s := p.soundings(of)
	for _, key := range ofPhases {
		switch n := of.value[key]; {
		case n == nil, key == "mutate" && n.Value == "false", key == "mode" && n.Value == "evaluate":
		default:
			o.p.report(of.keys[key], CodeConflict, "%s is for the soundings of a phase: what is tried here is the cascade as it is", key)
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
