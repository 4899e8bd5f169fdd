package cascades

import (
	"slices"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/templates"
)

// Use returns a known validator with parameters, without a file.
func Use(name string, with map[string]any, known Known) (*Validator, error) {
	found, err := known.Validators.Find(name)
	if err != nil {
		return nil, err
	}
	v := &Validator{Name: found.Name, Description: found.Description, Pure: found.Pure, Faults: found.Faults(with)}
	check, err := found.Bind(with) // of a judge too, to check its parameters
	switch {
	case err != nil:
	case found.Criteria != "":
		v.Criteria, err = templates.Parse(found.Criteria)
	default:
		v.Check = check
	}
	return v, err
}

// uses reports whether a phase of the cascade or of a nested cascade names the
// tool.
func (c *Cascade) uses(name string) bool {
	return c.anyPhase(func(p *Phase) bool {
		return slices.ContainsFunc(p.tools(), func(t *Tool) bool { return t.Name == name })
	})
}

// RunsCommands returns the built-in tool with which the cascade or a nested
// cascade runs commands of a model, or "".
func (c *Cascade) RunsCommands() string {
	for _, name := range []string{"run_command", "run_code"} {
		if c.uses(name) {
			return name
		}
	}
	return ""
}

// anyPhase reports whether the function holds for a phase of the cascade or of a
// nested cascade.
func (c *Cascade) anyPhase(holds func(*Phase) bool) bool {
	return slices.ContainsFunc(c.Within(), func(n *Cascade) bool { return slices.ContainsFunc(n.EveryPhase(), holds) })
}

// Within returns the cascade and all nested cascades, each once.
func (c *Cascade) Within() []*Cascade {
	var list []*Cascade
	seen := map[*Cascade]bool{}
	var add func(*Cascade)
	add = func(c *Cascade) {
		if seen[c] {
			return
		}
		seen[c] = true
		list = append(list, c)
		for _, p := range c.EveryPhase() {
			for _, n := range p.Cascades() {
				add(n)
			}
		}
	}
	add(c)
	return list
}

// tools returns the tools of the phase.
func (p *Phase) tools() []*Tool {
	if p.Tool != nil {
		return append(slices.Clone(p.Tackle), p.Tool)
	}
	return p.Tackle
}

// Cascades returns the cascades that the phase runs as sub-cascades, tools or
// checks, without those nested in them.
func (p *Phase) Cascades() []*Cascade {
	var list []*Cascade
	add := func(c *Cascade) {
		if c != nil {
			list = append(list, c)
		}
	}
	for _, s := range p.Subs {
		add(s.Cascade)
	}
	for _, t := range p.tools() {
		add(t.Cascade)
		if t.Validator != nil {
			add(t.Validator.Cascade)
		}
	}
	for _, c := range p.Checks() {
		add(c.Validator.Cascade)
	}
	return list
}

// EngineTools returns the tools of the engine, which every run has.
func EngineTools() []tool.Tool { return engineTools.List() }
