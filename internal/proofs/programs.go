package proofs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Program is a gate on a path that is a program, in a cascade whose models
// may call writing tools. Models cannot change the files that its arguments
// name, except those of subject. They may change other files that the program
// opens.
type Program struct {
	Gate    Gate     `json:"gate"`
	Argv    []string `json:"argv"`
	Subject []string `json:"subject,omitempty"`
	Writers []string `json:"writers"` // the tools, as write_file (code)
	Protect []string `json:"protect,omitempty"`
}

// judges reports whether a validator sees the text, and no model can change the
// program that it runs.
func judges(v *cascades.Validator) bool { return v.Judges() }

// programs returns the gates on the paths that are programs.
func (p *Proof) programs() (list []Program) {
	writers := p.writing()
	if len(writers) == 0 {
		return nil
	}
	for _, w := range p.Paths {
		for _, g := range w.Gates {
			if g.validator == nil || slices.ContainsFunc(list, func(one Program) bool { return one.Gate == g }) {
				continue
			}
			if is, ok := g.validator.Program(); ok {
				list = append(list, Program{g, is.Argv, is.Subject, writers, p.cascade.Deciding.Protect})
			}
		}
	}
	return list
}

// writing returns the tools by which models may change files.
func (p *Proof) writing() (list []string) {
	for _, c := range p.cascade.Within() {
		for _, phase := range c.EveryPhase() {
			for _, t := range phase.Tackle {
				name := fmt.Sprintf("%s (%s)", t.Name, phase.Name)
				if t.Cascade == nil && t.Effect == tool.Writes && !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// String describes the proof's assumption about the program.
func (p Program) String() string {
	text := fmt.Sprintf("%s runs %s: no model may change the files that it names", p.Gate, strings.Join(strings.Fields(strings.Join(p.Argv, " ")), " "))
	if len(p.Subject) > 0 {
		text += " except " + strings.Join(p.Subject, ", ")
	}
	text += fmt.Sprintf("; other files that it opens may be changed with %s", strings.Join(p.Writers, ", "))
	if len(p.Protect) > 0 {
		text += ", except " + strings.Join(p.Protect, ", ")
	}
	return text
}
