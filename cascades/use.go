package cascades

import (
	"slices"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/templates"
)

// Use gives a known validator its parameters as a cascade file would, without
// any file.
func Use(name string, with map[string]any, known Known) (*Validator, error) {
	found, err := known.Validators.Find(name)
	if err != nil {
		return nil, err
	}
	v := &Validator{Name: found.Name, Description: found.Description, Pure: found.Pure, Faults: found.Faults(with)}
	check, err := found.Bind(with) // a judge's too: what it does not take is nothing to pass over
	switch {
	case err != nil:
	case found.Criteria != "":
		v.Criteria, err = templates.Parse(found.Criteria)
	default:
		v.Check = check
	}
	return v, err
}

// Uses tells whether any phase, of this cascade or of one within it, names the
// tool.
func (c *Cascade) Uses(name string) bool {
	return c.Any(func(p *Phase) bool {
		return slices.ContainsFunc(p.tools(), func(t *Tool) bool { return t.Name == name })
	})
}

// RunsCommands names the built-in tool with which phases, of this cascade or of
// those within it, run what a model says; "" for none.
func (c *Cascade) RunsCommands() string {
	for _, name := range []string{"run_command", "run_code"} {
		if c.Uses(name) {
			return name
		}
	}
	return ""
}

// Any tells whether something holds for a phase, of this cascade or of one
// within it.
func (c *Cascade) Any(holds func(*Phase) bool) bool {
	return slices.ContainsFunc(c.Within(), func(n *Cascade) bool { return slices.ContainsFunc(n.EveryPhase(), holds) })
}

// Within lists this cascade and those within it, each once.
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

// tools lists the tools of the phase.
func (p *Phase) tools() []*Tool {
	if p.Tool != nil {
		return append(slices.Clone(p.Tackle), p.Tool)
	}
	return p.Tackle
}

// Cascades lists the cascades that the phase runs: before it, as its tools, as its
// checks; those within them are theirs.
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

// EngineTools are the tools that every run has: the engine answers them itself.
func EngineTools() []tool.Tool { return engineTools.List() }
