package checks

import (
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A StateRead is a key of the state that a template cannot work without.
type StateRead struct {
	Key string
	At  func() syntax.Position
}

// state warns of keys of the state that nothing sets. The state of a nested cascade may come
// from the cascade around it.
func state(c *Cascade, r *findings.Report) {
	if c.Nested || c.OpenState {
		return
	}
	for _, s := range c.State {
		if !c.StateKeys[s.Key] {
			r.WarnAt(s.At(), codes.Unset, "template: nothing sets state.%s", s.Key)
			r.Suggest(s.Key, func() []string { return slices.Sorted(maps.Keys(c.StateKeys)) })
		}
	}
}
