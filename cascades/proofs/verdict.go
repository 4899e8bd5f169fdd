package proofs

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/wards"
)

// verdict follows a phase that is a gate: its output has in it what it was given,
// and the words of a judge.
func (f *proving) verdict(v *cascades.Validator) strands {
	content, of := f.judged()
	f.validator(v, content)
	said := content.and(f.given)
	if !v.Free() {
		said = said.and(f.source(f.c, f.p, FromWords))
	}
	mode := f.p.GateMode()
	lost := f.p.Each != nil && (mode == wards.Advisory || f.p.Each.Keep && mode != wards.Blocking) // an item's no stops nothing
	if lost || !judges(v) {
		return said
	}
	if v.Free() {
		of = append(of, judged{"outputs", f.p.Name})
	}
	word := string(mode)
	if mode == wards.Advisory {
		word = "when"
	}
	f.r.mode, f.r.of = mode, of
	f.r.own = f.gate(f.p, Gate{v.Name, f.c.ID, f.p.Name, "phase", word, v, f.p, f.c})
	return said
}

// judged is the text that a phase which is a gate judges, and the variables that
// it judges whole.
func (f *proving) judged() (content strands, of []judged) {
	value, given := f.p.Inputs["content"]
	if !given {
		for name := range f.previous {
			content = content.and(f.outputs.get(name))
			of = append(of, judged{"outputs", name})
		}
		if len(of) != 1 {
			of = nil
		}
		return content, of
	}
	cascades.Some(value, func(leaf any) bool {
		if r, plain := leaf.(cascades.Reference); plain {
			of = append(of, f.whole(r.Path)...)
		}
		return false
	})
	return f.value(value), of
}

// whole is the variable that a path is all of: outputs.draft, or an item of the
// list that the phase is done for.
func (f *proving) whole(path []string) []judged {
	if f.p.Each != nil && len(path) == 1 && path[0] == f.p.Each.As {
		if r, plain := f.p.Each.In["in"].(cascades.Reference); plain {
			path = r.Path
		}
	}
	if len(path) != 2 {
		return nil
	}
	return []judged{{path[0], path[1]}}
}
