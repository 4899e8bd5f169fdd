package cascades

import "slices"

// Models lists the models that a run may call, in file order, where chosen
// replaces the cascade's own default; "" among them is a call that none is
// named for.
func (c *Cascade) Models(chosen string) []string {
	var names []string
	c.eachModel(chosen, map[asked]bool{}, func(name string) {
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

func (c *Cascade) eachModel(chosen string, done map[asked]bool, add func(string)) {
	if done[asked{c, chosen}] {
		return
	}
	done[asked{c, chosen}] = true
	fallback := chosen
	if fallback == "" {
		fallback = c.Model
	}
	or := func(own string) {
		if own == "" {
			own = fallback
		}
		add(own)
	}
	nested := func(child *Cascade) {
		given := chosen
		if child.Model == "" {
			given = fallback
		}
		child.eachModel(given, done, add)
	}
	for _, p := range c.EveryPhase() {
		if p.Instructions != nil {
			or(p.Model)
		}
		for _, check := range p.Checks() {
			switch v := check.Validator; {
			case v.Criteria != nil:
				or(v.Model)
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
				or(t.Validator.Model)
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
