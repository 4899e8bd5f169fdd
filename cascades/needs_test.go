package cascades

import (
	"fmt"
	"slices"
	"testing"
)

// What a cascade within needs is needed with it, once however often it is named; of what
// may be skipped the variables alone are known.
func TestNeedsWithin(t *testing.T) {
	c := parsed(t, `cascade_id: x
tools: {named: {cascade: in.yaml}, late: {exec: [late], env: [LATE_KEY, KEY]}}
phases:
- {name: a, instructions: x, tackle: [named], sub_cascades: [{ref: in.yaml}, {ref: in.yaml}]}
- {name: b, tool: late, when: input.late}
`, map[string]string{"in.yaml": "cascade_id: in\ntools: {save: {exec: [save], env: [KEY]}}\nphases: [{name: in, tool: save}]\n"})
	var needs []string
	for _, n := range c.Needs() {
		needs = append(needs, fmt.Sprint(n.Phase, ": ", n.What, " ", n.Variables))
	}
	if !slices.Equal(needs, []string{"in: tool save [KEY]"}) || !slices.Equal(c.Variables(), []string{"KEY", "LATE_KEY"}) {
		t.Errorf("got %q and %q", needs, c.Variables())
	}
}
