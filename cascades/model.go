package cascades

import (
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Model is a model with its fallback models. It is empty if the cascade names no model.
type Model []Candidate

// A Candidate is one model of a [Model]: the first, or a fallback model.
type Candidate struct {
	Name     string
	Params   *model.Params // nil for none
	Attempts int           // number of attempts before the next model, at least 1; no limit for the last model
}

// Names returns the names of the models, in order.
func (m Model) Names() []string {
	names := make([]string, len(m))
	for i, r := range m {
		names[i] = r.Name
	}
	return names
}

// String returns the names with arrows between them.
func (m Model) String() string { return strings.Join(m.Names(), " → ") }

// From returns the model for an attempt, counted from 1, with the fallback models that follow
// it.
func (m Model) From(attempt int) Model {
	for len(m) > 1 && attempt > m[0].Attempts {
		attempt -= m[0].Attempts
		m = m[1:]
	}
	return m
}

// A Chosen replaces models of the files. It has one rule per line:
//
//	NAME     replaces the default model of a file
//	OLD=NEW  replaces the model OLD everywhere
//	*=NEW    replaces every named model
//
// A default that is a script or a stored run (scripted:FILE, replay:RUN) replaces every model.
// A rule changes neither the parameters nor the number of models, except those of a replaced
// default. The zero value changes nothing.
type Chosen string

// Default returns the model that replaces the default of a file, or "".
func (c Chosen) Default() string {
	for line := range strings.SplitSeq(string(c), "\n") {
		if _, _, renames := renaming(line); line != "" && !renames {
			return line
		}
	}
	return ""
}

// renaming splits OLD=NEW. The path of a script may contain =.
func renaming(line string) (old, to string, ok bool) {
	if recorded(line) {
		return "", "", false
	}
	return strings.Cut(line, "=")
}

// recorded reports whether the model is a script or a stored run.
func recorded(name string) bool {
	return strings.HasPrefix(name, "scripted:") || strings.HasPrefix(name, "replay:")
}

// Of returns the model of a place after the replacements of c. The place names the model own,
// and its file has the default model file. Both may be empty.
func (c Chosen) Of(own, file Model) Model {
	chosen := c.Default()
	m := own
	switch {
	case len(m) > 0:
	case chosen != "" && !recorded(chosen) || len(file) == 0:
		m = Model{{Name: chosen, Attempts: 1}}
	default:
		m = file
	}
	if len(own) == 0 && chosen != "" && !recorded(chosen) {
		return m.named()
	}
	renamed := make(Model, len(m))
	for i, r := range m {
		renamed[i] = r
		renamed[i].Name = c.rename(r.Name)
	}
	return renamed.named()
}

// named returns the model. It returns nil for a single candidate without a name.
func (m Model) named() Model {
	if len(m) == 1 && m[0].Name == "" {
		return nil
	}
	return m
}

// rename returns the replacement of a name. A rule for the name has priority over a rule for
// all names.
func (c Chosen) rename(name string) string {
	all := ""
	for line := range strings.SplitSeq(string(c), "\n") {
		switch old, to, ok := renaming(line); {
		case ok && old == name:
			return to
		case ok && old == "*", recorded(line):
			all = to
			if !ok {
				all = line
			}
		}
	}
	if all != "" {
		return all
	}
	return name
}

// An Asking is a place that may call a model.
type Asking struct {
	Cascade *Cascade
	Phase   *Phase // nil for a validator outside phases
	Name    string // name of the model; "" for none
	Role    string // judge NAME or evaluator; "" for the calls of the phase
}

// Models lists the models that a run may call, in file order and after the replacements of
// chosen. The name "" means a call without a named model.
func (c *Cascade) Models(chosen Chosen) []string {
	var names []string
	for _, a := range c.Asking(chosen, nil) {
		note(&names, a.Name)
	}
	return names
}

// Asking lists every place that may ask a model, in file order. A place has one entry for each
// model that it may ask. Nested cascades are included. If finished is not nil, Asking omits
// the phases for which it returns true.
func (c *Cascade) Asking(chosen Chosen, finished func(*Phase) bool) []Asking {
	a := &asking{chosen: chosen, done: map[visit]bool{}}
	for _, p := range c.EveryPhase() {
		if finished == nil || !finished(p) {
			a.phase(c, p, c.Default(nil))
		}
	}
	return a.list
}

// AskingOf is like [Cascade.Asking], but lists the calls of one validator outside any phase.
func (c *Cascade) AskingOf(v *Validator, chosen Chosen) []Asking {
	a := &asking{chosen: chosen, done: map[visit]bool{}}
	a.validator(c, nil, v, c.Default(nil))
	return a.list
}

type asking struct {
	chosen Chosen
	list   []Asking
	done   map[visit]bool
}

// A visit identifies a cascade that the list already contains with this default model.
type visit struct {
	cascade *Cascade
	file    string
}

// cascade adds the calls of c. given is the default model of the enclosing cascade.
func (a *asking) cascade(c *Cascade, given Model) {
	file := c.Default(given)
	key := visit{c, file.String()}
	if a.done[key] {
		return
	}
	a.done[key] = true
	for _, p := range c.EveryPhase() {
		a.phase(c, p, file)
	}
}

// Default returns the model of the file. If the file names none, it returns given, the default
// model of the enclosing cascade.
func (c *Cascade) Default(given Model) Model {
	if len(c.Model) > 0 {
		return c.Model
	}
	return given
}

func (a *asking) phase(c *Cascade, p *Phase, file Model) {
	switch {
	case p.Instructions == nil:
	case p.Soundings != nil && len(p.Soundings.Models) > 0:
		for i := range p.Soundings.Models {
			a.add(c, p, p.Soundings.Models[i:i+1], file, "")
		}
	default:
		a.add(c, p, p.Model, file, "")
	}
	if s := p.Soundings; s != nil && (s.Evaluator != nil || s.Aggregator != nil) {
		a.add(c, p, p.Judging(), file, "evaluator")
	}
	for _, check := range p.Checks() {
		a.validator(c, p, check.Validator, file)
	}
	for _, sub := range p.Subs {
		a.cascade(sub.Cascade, file)
	}
	for _, t := range p.tools() {
		switch {
		case t.Cascade != nil && p.Soundings != nil && len(p.Soundings.Models) > 0:
			for i := range p.Soundings.Models {
				a.cascade(t.Cascade, p.Soundings.Models[i:i+1])
			}
		case t.Cascade != nil:
			a.cascade(t.Cascade, file)
		case t.Validator != nil:
			a.validator(c, p, t.Validator, file)
		}
	}
}

func (a *asking) validator(c *Cascade, p *Phase, v *Validator, file Model) {
	switch {
	case v.Criteria != nil:
		a.add(c, p, v.Model, file, "judge "+v.Name)
	case v.Cascade != nil:
		a.cascade(v.Cascade, file)
	}
}

// add adds one entry for each model of a place. A place without a model has one entry without
// a name.
func (a *asking) add(c *Cascade, p *Phase, own, file Model, role string) {
	asked := a.chosen.Of(own, file)
	for _, r := range asked {
		a.list = append(a.list, Asking{c, p, r.Name, role})
	}
	if len(asked) == 0 {
		a.list = append(a.list, Asking{Cascade: c, Phase: p, Role: role})
	}
}

// Judging returns the model of the evaluator. Default: the model of the phase.
func (p *Phase) Judging() Model {
	if len(p.Soundings.Model) > 0 {
		return p.Soundings.Model
	}
	return p.Model
}

// Checks lists the checks of the phase.
func (p *Phase) Checks() []*Check {
	var list []*Check
	p.eachCheck(func(_ string, _ int, check *Check) { list = append(list, check) })
	return list
}
