package cascades

import (
	"fmt"
	"slices"
	"testing"
)

// TestNeedsWithin checks that the needs of a nested cascade are included once.
// Phases that may be skipped contribute only their environment variables.
func TestNeedsWithin(t *testing.T) {
	c := parsed(t, `cascade_id: x
tools: {named: {cascade: in.yaml}, late: {exec: [late], env: [LATE_KEY, KEY]}}
phases:
- {name: a, instructions: x, tackle: [named], sub_cascades: [{ref: in.yaml}, {ref: in.yaml}]}
- {name: b, tool: late, when: input.late}
`, map[string]string{"in.yaml": "cascade_id: in\ntools: {save: {exec: [save], env: [KEY]}}\nphases: [{name: in, tool: save}]\n"})
	var needs []string
	for _, n := range c.Needs() {
		needs = append(needs, fmt.Sprint(n.Phase, ": ", n.What, " ", n.Program, n.Variables))
	}
	if !slices.Equal(needs, []string{"in: tool save save[]", "in: tool save [KEY]"}) || !slices.Equal(c.Variables(), []string{"KEY", "LATE_KEY"}) {
		t.Errorf("got %q and %q", needs, c.Variables())
	}
}

// TestNeedsOfGroups checks that a group has the needs of its phases, except of
// phases that may be skipped. It also has the needs of the validator of all
// tries.
func TestNeedsOfGroups(t *testing.T) {
	c := parsed(t, `cascade_id: x
tools: {save: {exec: [save], env: [KEY]}, late: {exec: [late], env: [LATE]}, later: {exec: [later], env: [LATER]}}
validators: {judge: {exec: [judge], env: [JUDGE]}}
soundings: {factor: 2, validator: judge, evaluator_instructions: Pick.}
phases:
- {name: g, together: [{name: a, tool: save}, {name: b, tool: late, when: input.late}]}
- {name: h, when: input.late, together: [{name: c, tool: later}, {name: d, compose: d}]}
`, nil)
	var needs []string
	for _, n := range c.Needs() {
		needs = append(needs, fmt.Sprint(n.Phase, ": ", n.What, " ", n.Program, n.Variables))
	}
	if want := []string{"a: tool save save[]", "a: tool save [KEY]", "soundings: validator judge judge[]", "soundings: validator judge [JUDGE]"}; !slices.Equal(needs, want) {
		t.Errorf("got %q", needs)
	}
	if got, want := c.Variables(), []string{"JUDGE", "KEY", "LATE", "LATER"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
