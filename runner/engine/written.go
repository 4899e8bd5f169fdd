package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/wards"
)

// calling is the check that the model does not write tool calls into its text.
// It applies to every phase with tools.
var calling = &wards.Ward{Name: "tackle", Moment: wards.Turn, Mode: wards.Retry, MaxAttempts: wards.DefaultAttempts}

// written returns the refusal of a text that contains a written call; false if there
// is none, or if the phase has no tools.
func (t *try) written(text string) (o wards.Outcome, refused bool) {
	tools := t.callable()
	if len(tools) == 0 {
		return o, false
	}
	var names []string
	for _, c := range modelmarkup.Calls(text) {
		named := c.Names(tools)
		if c.Bare && (len(named) == 0 || t.p.OutputSchema != nil && !t.breaksSchema(text)) {
			continue // the text is the answer
		}
		names, refused = append(names, named...), true
	}
	if !refused {
		return o, false
	}
	what, which := "a tool call", "the tool"
	if slices.Sort(names); len(names) > 0 {
		which = strings.Join(slices.Compact(names), " and ")
		what = "a call of " + which
	}
	o = wards.Outcome{Ward: calling}
	o.Verdict.Reason = fmt.Sprintf("the answer contains %s that is written as text, so it was not made; call %s through the tool interface, or answer without a call", what, which)
	return o, true
}

// callable returns the names of the tools that the phase's model may call.
func (v *visit) callable() []string {
	var names []string
	for _, tool := range v.p.Tackle {
		names = append(names, tool.Name)
	}
	if v.p.Chooses() && !slices.Contains(names, keywords.RouteTo) {
		names = append(names, keywords.RouteTo)
	}
	return names
}
