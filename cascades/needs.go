package cascades

import (
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Need is what a run needs that no file of the cascade holds, for one place
// that uses it.
type Need struct {
	Position  Position  // where it is written
	Phase     string    // that cannot do without it
	What      string    // "tool search", "validator facts"
	Variables []string  // of the environment
	Remote    tool.Tool // of an MCP server; without a name where there is none
}

// programNeed is what a program needs.
func (p *parser) programNeed(o *object, env []string) *Need {
	if !o.has("env") {
		return nil
	}
	return &Need{Position: p.position(o.keys["env"]), Variables: process.Needed(env)}
}

// entries are headers as a program's environment has its variables, for
// [process.Needed].
func entries(headers map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, name+"="+headers[name])
	}
	return list
}

// Variables lists the variables of the environment that anything of the cascade
// would be given, wherever it is used, in their order.
func (c *Cascade) Variables() []string {
	var list []Need
	c.needs(true, map[*Cascade]bool{}, &list)
	var names []string
	for _, n := range list {
		names = append(names, n.Variables...)
	}
	for _, one := range c.EveryProvider() {
		if one.KeyEnv != "" {
			names = append(names, one.KeyEnv)
		}
		names = append(names, process.Needed(entries(one.Headers))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Needs lists what the run cannot do without, phase by phase: of every phase, of
// this cascade and those within it, but for phases that may be skipped (when)
// or that say where to go without (on_error), and for wards whose no is noted alone.
func (c *Cascade) Needs() []Need {
	var list []Need
	c.needs(false, map[*Cascade]bool{}, &list)
	return list
}

func (c *Cascade) needs(all bool, done map[*Cascade]bool, list *[]Need) {
	if done[c] {
		return
	}
	done[c] = true
	if c.Tries != nil {
		c.Tries.needs(all, done, list) // whose tool is the cascade without them
		return
	}
	for _, p := range c.Phases {
		p.needs(all, done, list)
	}
}

func (p *Phase) needs(all bool, done map[*Cascade]bool, list *[]Need) {
	if !all && (p.When != nil || p.Rules.OnError != "") {
		return
	}
	for _, one := range p.Together {
		one.needs(all, done, list)
	}
	add := func(n *Need, within *Cascade, what string) {
		if n != nil {
			own := *n
			own.Phase, own.What = p.Name, what
			if own.Position == (Position{}) {
				own.Position = p.Position
			}
			*list = append(*list, own)
		}
		if within != nil {
			within.needs(all, done, list)
		}
	}
	for _, s := range p.Subs {
		add(nil, s.Cascade, "")
	}
	if p.Human != nil && p.Human.Notify != nil {
		add(p.Human.Notify.need, nil, "notify")
	}
	for _, t := range p.tools() {
		add(t.need, t.Cascade, "tool "+t.Name)
		if v := t.Validator; v != nil {
			add(v.need, v.Cascade, "validator "+v.Name)
		}
	}
	for _, c := range p.Checks() {
		if all || c.Ward.Mode.Stands() {
			add(c.Validator.need, c.Validator.Cascade, "validator "+c.Validator.Name)
		}
	}
}
