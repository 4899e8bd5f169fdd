package cascades

import "github.com/seed61713e19/capstan/templates"

// A seen is told of every variable that a template reads: the path, and whether
// the template handles that it is not there.
type seen func(path []string, guarded bool)

// eachName shows every variable that a template of the phase reads, but for
// those of the phases of a group. Cascades within it have variables of their own.
func (p *Phase) eachName(see seen) {
	see.templates(p.Instructions, p.Compose, p.Rules.LoopPrompt, p.Rules.TurnPrompt, p.Rules.RetryInstructions)
	if p.Each != nil {
		see.values(p.Each.In)
	}
	for _, s := range p.Subs {
		see.values(s.InputMap)
	}
	if p.Soundings != nil {
		see.templates(append(p.Soundings.templates(), p.Soundings.Evaluator)...)
	}
	if p.Human != nil {
		see.templates(p.Human.Prompt)
	}
	see.values(p.Inputs)
	if p.Tool != nil && p.Tool.Validator != nil {
		see.validator(p.Tool.Validator)
	}
	for _, c := range p.Checks() {
		see.validator(c.Validator)
	}
}

func (see seen) validator(v *Validator) {
	see.templates(v.Criteria)
	see.values(v.With)
	see.values(v.InputMap)
}

func (see seen) templates(list ...*templates.Template) {
	for _, t := range list {
		if t == nil {
			continue
		}
		for _, n := range t.Names() {
			see(n.Path, n.Guarded)
		}
	}
}

func (see seen) values(v Values) {
	for _, n := range v.Names() {
		see(n.Path, n.Guarded)
	}
}
