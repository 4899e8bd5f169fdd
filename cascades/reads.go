package cascades

import (
	"slices"

	"github.com/seed61713e19/capstan/templates"
)

// names are the variables that templates of the phase read, but for those of the
// phases of a group. Cascades within it have variables of their own.
func (p *Phase) names() []templates.Name {
	all := append(p.Soundings.templates(), p.System, p.Instructions, p.Compose, p.Rules.LoopPrompt, p.Rules.TurnPrompt, p.Rules.RetryInstructions)
	values := []Values{p.Inputs}
	if p.Each != nil {
		values = append(values, p.Each.In)
	}
	for _, s := range p.Subs {
		values = append(values, s.InputMap)
	}
	if p.Human != nil {
		all = append(all, p.Human.Prompt)
	}
	validator := func(v *Validator) {
		all, values = append(all, v.Criteria), append(values, v.With, v.InputMap)
	}
	if p.Tool != nil && p.Tool.Validator != nil {
		validator(p.Tool.Validator)
	}
	for _, c := range p.Checks() {
		validator(c.Validator)
	}
	var list []templates.Name
	for _, t := range all {
		if t != nil {
			list = append(list, t.Names()...)
		}
	}
	for _, v := range values {
		list = append(list, v.Names()...)
	}
	return list
}

// inputs are the variables of the input, by name, that templates of the phase read.
func (p *Phase) inputs() []templates.Name {
	return slices.DeleteFunc(p.names(), func(n templates.Name) bool { return len(n.Path) < 2 || n.Path[0] != "input" })
}
