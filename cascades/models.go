package cascades

import "slices"

// Models lists the models that a run may call, in file order, where chosen
// replaces the cascade's own default; "" among them is a call that none is
// named for.
func (c *Cascade) Models(chosen string) []string {
	var names []string
	c.eachModel(chosen, map[asked]bool{}, func(name, _ string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// asked is a cascade with the model that was chosen for it.
type asked struct {
	cascade *Cascade
	chosen  string
}

// eachModel tells of every model that a run may call, with who names it.
func (c *Cascade) eachModel(chosen string, done map[asked]bool, add func(name, by string)) {
	if done[asked{c, chosen}] {
		return
	}
	done[asked{c, chosen}] = true
	fallback := chosen
	if fallback == "" {
		fallback = c.Model
	}
	or := func(own, by string) { add(first(own, fallback), by) }
	nested := func(child *Cascade) {
		given := chosen
		if child.Model == "" {
			given = fallback
		}
		child.eachModel(given, done, func(name, by string) { add(name, "cascade "+child.ID+": "+by) })
	}
	for _, p := range c.EveryPhase() {
		phase := "phase " + p.Name
		if p.Instructions != nil {
			or(p.Model, phase)
		}
		for _, check := range p.Checks() {
			switch v := check.Validator; {
			case v.Criteria != nil:
				or(v.Model, phase+": judge "+v.Name)
			case v.Cascade != nil:
				nested(v.Cascade)
			}
		}
		for _, sub := range p.Subs {
			nested(sub.Cascade)
		}
		for _, t := range append(slices.Clone(p.Tackle), p.Tool) {
			switch {
			case t == nil:
			case t.Cascade != nil:
				nested(t.Cascade)
			case t.Validator != nil && t.Validator.Criteria != nil:
				or(t.Validator.Model, phase+": judge "+t.Validator.Name)
			}
		}
	}
}

// Checks lists every check of the phase.
func (p *Phase) Checks() []*Check {
	list := slices.Concat(p.Wards.Pre, p.Wards.Tool, p.Wards.Result, p.Wards.Turn, p.Wards.Post)
	if p.Rules.Loop != nil {
		list = append(list, p.Rules.Loop)
	}
	if p.Soundings != nil && p.Soundings.Filter != nil {
		list = append(list, p.Soundings.Filter)
	}
	return list
}
