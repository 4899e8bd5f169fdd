package cascades

import "github.com/seed61713e19/capstan/internal/keywords"

// Reserves reports whether the engine or a person sets the key in the state during a run. It
// includes the keys of sub-cascades that return their state. A model must not set such a key.
func (c *Cascade) Reserves(key string) bool {
	if key == keywords.ValidatedOutput {
		return true
	}
	keys := map[string]bool{}
	c.sets(keys, map[*Cascade]bool{})
	return keys[key]
}

// sets collects in keys the state keys that the engine and people set during a run. It reports
// whether set_state or a sub-cascade may set other keys.
func (c *Cascade) sets(keys map[string]bool, done map[*Cascade]bool) (others bool) {
	if done[c] {
		return false
	}
	done[c] = true
	for _, p := range c.EveryPhase() {
		if p.OutputSchema != nil {
			keys[keywords.ValidatedOutput] = true
		}
		if p.Extraction != nil {
			keys[p.Extraction.StoreAs] = true
		}
		if p.Human != nil {
			keys[p.Human.StoreAs] = true
		}
		if p.Each != nil && p.Each.Keep {
			keys[p.Name+"_failures"] = true
		}
		for _, t := range p.tools() {
			others = others || t.Engine && t.Name == keywords.SetState
			if t.Engine && t.Name == keywords.AskHuman {
				keys[p.Name] = true
			}
		}
		for _, s := range p.Subs {
			others = s.ContextOut && s.Cascade.sets(keys, done) || others
		}
	}
	return others
}
