package proofs

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/wards"
)

// verdict follows a phase that is a gate. Its output contains its input and the
// reason of a judge.
func (f *phaseAnalysis) verdict(v *cascades.Validator) taints {
	content, of := f.gatedContent()
	f.validator(v, content)
	output := content.union(f.inputs)
	if !v.Free() {
		output = output.union(f.source(f.c, f.p, FromWords))
	}
	mode := f.p.GateMode()
	lost := f.p.Each != nil && (mode == wards.Advisory || f.p.Each.Keep && mode != wards.Blocking) // a rejected item stops nothing
	if lost || !judges(v) {
		return output
	}
	if v.Free() {
		of = append(of, gatedVar{"outputs", f.p.Name})
	}
	word := string(mode)
	if mode == wards.Advisory {
		word = "when"
	}
	f.r.mode, f.r.vars = mode, of
	f.r.gate = f.gate(f.p, Gate{v.Name, f.c.ID, f.p.Name, "phase", word, v, f.p, f.c})
	return output
}

// gatedContent returns the text that a phase checks as a gate, and the
// variables that it checks as a whole.
func (f *phaseAnalysis) gatedContent() (content taints, of []gatedVar) {
	value, given := f.p.Inputs["content"]
	if !given {
		for name := range f.previous {
			content = content.union(f.outputs.get(name))
			of = append(of, gatedVar{"outputs", name})
		}
		if len(of) != 1 {
			of = nil
		}
		return content, of
	}
	jsonvalue.Some(value, func(leaf any) bool {
		if r, plain := leaf.(cascades.Reference); plain {
			of = append(of, f.whole(r.Path)...)
		}
		return false
	})
	return f.value(value), of
}

// whole returns the variable that a path names completely: outputs.draft, or an
// item of the list of each.
func (f *phaseAnalysis) whole(path []string) []gatedVar {
	if f.p.Each != nil && len(path) == 1 && path[0] == f.p.Each.As {
		if r, plain := f.p.Each.In["in"].(cascades.Reference); plain {
			path = r.Path
		}
	}
	if len(path) != 2 {
		return nil
	}
	return []gatedVar{{path[0], path[1]}}
}
