package cascades

import (
	"maps"
	"slices"
)

// A stateRead is a key of the state that a template reads unguarded.
type stateRead struct {
	key string
	at  func() Position
}

// checkState warns of keys of the state that nothing sets: who reads them fails,
// and perhaps not before much is paid for. A cascade within another may have them
// of that one.
func (p *parser) checkState() {
	if len(p.loading) > 1 {
		return
	}
	keys := map[string]bool{}
	if p.cascade.sets(keys, map[*Cascade]bool{}) {
		return // a model or a template says which
	}
	for _, r := range p.stateReads {
		if keys[r.key] {
			continue
		}
		p.note(Warning, r.at(), CodeUnset, "template: nothing sets state.%s", r.key)
		p.suggest(r.key, func() []string { return slices.Sorted(maps.Keys(keys)) })
	}
}

// Reserves reports whether the engine or a person writes the key of the state in a
// run of the cascade, also in a sub-cascade whose state comes back. A model must not
// set such a key.
func (c *Cascade) Reserves(key string) bool {
	if key == ValidatedOutput {
		return true
	}
	keys := map[string]bool{}
	c.sets(keys, map[*Cascade]bool{})
	return keys[key]
}

// sets adds to keys those that the engine and people write into the state of a run of
// the cascade, and reports whether set_state or a sub-cascade may write others.
func (c *Cascade) sets(keys map[string]bool, done map[*Cascade]bool) (others bool) {
	if done[c] {
		return false
	}
	done[c] = true
	for _, p := range c.EveryPhase() {
		if p.OutputSchema != nil {
			keys[ValidatedOutput] = true
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
			others = others || t.Engine && t.Name == SetState
			if t.Engine && t.Name == AskHuman {
				keys[p.Name] = true
			}
		}
		for _, s := range p.Subs {
			others = s.ContextOut && s.Cascade.sets(keys, done) || others
		}
	}
	return others
}
