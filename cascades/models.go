package cascades

// An Asking is a place that may ask a model.
type Asking struct {
	Cascade *Cascade
	Phase   *Phase // nil of a validator that no phase has
	Name    string // of the model; "" where none is named
	Role    string // judge NAME or evaluator; "" for the phase's own calls
}

// Models lists the models that a run may call, in file order, with what is
// chosen in place of what the files say; "" among them is a call that none is
// named for.
func (c *Cascade) Models(chosen Chosen) []string {
	var names []string
	for _, a := range c.Asking(chosen) {
		note(&names, a.Name)
	}
	return names
}

// Asking lists every place that may ask a model, each with one rung of what it
// asks, in file order, of this cascade and of those within it.
func (c *Cascade) Asking(chosen Chosen) []Asking {
	a := &asking{chosen: chosen, done: map[within]bool{}}
	a.cascade(c, nil)
	return a.list
}

// AskingRest is [Cascade.Asking] of the cascade's phases that have not finished,
// with all that is within them.
func (c *Cascade) AskingRest(chosen Chosen, finished func(*Phase) bool) []Asking {
	a := &asking{chosen: chosen, done: map[within]bool{}}
	for _, p := range c.EveryPhase() {
		if !finished(p) {
			a.phase(c, p, c.Default(nil))
		}
	}
	return a.list
}

// AskingOf is [Cascade.Asking] of one validator alone, which no phase has.
func (c *Cascade) AskingOf(v *Validator, chosen Chosen) []Asking {
	a := &asking{chosen: chosen, done: map[within]bool{}}
	a.validator(c, nil, v, c.Default(nil))
	return a.list
}

type asking struct {
	chosen Chosen
	list   []Asking
	done   map[within]bool
}

// within is a cascade with the default that it was looked at with.
type within struct {
	cascade *Cascade
	file    string
}

// cascade adds what c asks; given is the default of what it is part of.
func (a *asking) cascade(c *Cascade, given Model) {
	file := c.Default(given)
	key := within{c, file.String()}
	if a.done[key] {
		return
	}
	a.done[key] = true
	for _, p := range c.EveryPhase() {
		a.phase(c, p, file)
	}
}

// Default is the model of what names none: the file's own, else that of the
// cascade it is part of.
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

// add adds every rung of what is asked at a place, and the place without a name
// where none is.
func (a *asking) add(c *Cascade, p *Phase, own, file Model, role string) {
	asked := a.chosen.Of(own, file)
	for _, r := range asked {
		a.list = append(a.list, Asking{c, p, r.Name, role})
	}
	if len(asked) == 0 {
		a.list = append(a.list, Asking{Cascade: c, Phase: p, Role: role})
	}
}

// Judging is the evaluator's model: its own, else the phase's.
func (p *Phase) Judging() Model {
	if len(p.Soundings.Model) > 0 {
		return p.Soundings.Model
	}
	return p.Model
}

// Checks lists every check of the phase.
func (p *Phase) Checks() []*Check {
	var list []*Check
	p.eachCheck(func(_ string, _ int, check *Check) { list = append(list, check) })
	return list
}
