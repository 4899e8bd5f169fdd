package checks

import (
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A StateRead is a key of the state that a template requires.
type StateRead struct {
	Key string
	At  func() syntax.Position
}

// state warns about keys of the state that nothing sets. It skips nested cascades, because the
// cascade around them may set the keys.
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
