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

// sets notes the keys of the state that a run of the cascade may set, and tells
// whether there may be any others.
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
