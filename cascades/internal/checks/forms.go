package checks

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A form is a kind of phase. It has a key, a description for messages, and the other keys of
// the phase and its rules that have no effect for this form.
type form struct {
	key, does   string
	keys, rules []string
}

var (
	modelKeys  = []string{"system", "examples", "model", "tackle", "context", "soundings", "token_budget"}
	modelRules = []string{"max_turns", "turn_prompt", "loop_until", "retry_instructions", "feedback"}

	forms = []form{
		{"instructions", "has instructions", []string{"inputs"}, nil},
		{"tool", "runs a tool", modelKeys, modelRules},
		{"compose", "composes its text", append([]string{"inputs"}, modelKeys...), append([]string{"max_attempts"}, modelRules...)},
		{"together", "is a group", append([]string{"inputs", "human_input", "each", "output_schema", "output_extraction", "sub_cascades", "wards"}, modelKeys...),
			append([]string{"max_attempts", "on_exhausted", "timeout"}, modelRules...)},
	}
)

// formKeys returns the keys of the forms.
func formKeys() (keys []string) {
	for _, f := range forms {
		keys = append(keys, f.key)
	}
	return keys
}

// form returns the index of the first form that a phase has, or -1.
func (p *Phase) form() int {
	return slices.IndexFunc(forms, func(f form) bool { return p.Keys[f.key] != nil })
}

// phaseForms reports phases without a form, phases with more than one form, and keys that have
// no effect for the form.
func phaseForms(c *Cascade, r *findings.Report) {
	for _, p := range c.Phases {
		i := p.form()
		switch {
		case p.Node == nil:
			continue
		case i < 0:
			r.Error(p.Node, codes.Missing, "%s needs %s", p.What, reader.Alternatives(formKeys()))
			continue
		}
		for _, other := range forms[i+1:] {
			p.conflict(r, other.key, "%s has both %s and %s", p.What, forms[i].key, other.key)
		}
		for _, key := range forms[i].keys {
			p.conflict(r, key, "%s means nothing here: %s %s", key, p.What, forms[i].does)
		}
	}
}

// conflict reports a conflict at a key of a phase, if the phase has the key.
func (p *Phase) conflict(r *findings.Report, key, format string, args ...any) {
	if n := p.Keys[key]; n != nil {
		r.Error(n, codes.Conflict, format, args...)
	}
}
