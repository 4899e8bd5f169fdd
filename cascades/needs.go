package cascades

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
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
	Program   string    // that is started, as exec names it; "" for none
	Dir       string    // that Program is started in
	Built     bool      // a tool: phase before may build Program
}

// programNeeds returns the needs of a program: the program itself and the variables of its env.
func (p *parser) programNeeds(o *object, argv []string, dir string, env []string) (list []Need) {
	if len(argv) > 0 {
		list = append(list, Need{Position: p.position(o.keys["exec"]), Program: argv[0], Dir: dir})
	}
	if o.has("env") {
		list = append(list, Need{Position: p.position(o.keys["env"]), Variables: process.Needed(env)})
	}
	return list
}

// Lacks returns why the program of the need cannot be started, nil if it can, or if a
// phase before may build it.
func (n Need) Lacks() error {
	if n.Program == "" || n.Built {
		return nil
	}
	return process.Lacks(n.Program, n.Dir)
}

// Absent returns a warning for each program that a phase, tool or check of the cascade
// starts and that cannot be started here.
func (c *Cascade) Absent() (found Diagnostics) {
	var list []Need
	c.needs(needing{all: true, done: map[*Cascade]bool{}, list: &list})
	for _, n := range list {
		if err := n.Lacks(); err != nil {
			found = append(found, Diagnostic{Severity: Warning, Code: CodeProgram, Position: n.Position, Message: fmt.Sprintf("%s: %v", n.What, err)})
		}
	}
	return found
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
	c.needs(needing{all: true, done: map[*Cascade]bool{}, list: &list})
	var names []string
	for _, n := range list {
		names = append(names, n.Variables...)
	}
	for _, one := range c.EveryProvider() {
		known, _ := model.Builtin(one.Name)
		if one.KeyEnv != "" && (one.KeyEnv != known.KeyEnv || one.BaseURL != known.BaseURL) {
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
	c.needs(needing{done: map[*Cascade]bool{}, list: &list})
	return list
}

// needing collects needs.
type needing struct {
	all   bool // those of phases and wards that a run may do without, too
	built bool // a tool: phase came before
	done  map[*Cascade]bool
	list  *[]Need
}

func (c *Cascade) needs(n needing) {
	if n.done[c] {
		return
	}
	n.done[c] = true
	if c.Tries != nil {
		c.Tries.needs(n) // whose tool is the cascade without them
		return
	}
	for _, p := range c.Phases {
		p.needs(n)
		n.built = n.built || p.builds()
	}
}

// builds reports whether the phase may write a program: it calls a tool that writes.
func (p *Phase) builds() bool {
	return p.Tool != nil && (p.Tool.Cascade != nil || p.Tool.Tool.Writes()) || slices.ContainsFunc(p.Together, (*Phase).builds)
}

func (p *Phase) needs(n needing) {
	if !n.all && (p.When != nil || p.Rules.OnError != "") {
		return
	}
	for _, one := range p.Together {
		one.needs(n)
	}
	add := func(list []Need, within *Cascade, what string) {
		for _, own := range list {
			own.Phase, own.What = p.Name, what
			own.Built = n.built && strings.ContainsRune(own.Program, '/')
			if own.Position == (Position{}) {
				own.Position = p.Position
			}
			*n.list = append(*n.list, own)
		}
		if within != nil {
			within.needs(n)
		}
	}
	for _, s := range p.Subs {
		add(nil, s.Cascade, "")
	}
	if p.Human != nil && p.Human.Notify != nil {
		add(p.Human.Notify.needs, nil, "notify")
	}
	for _, t := range p.tools() {
		add(t.needs, t.Cascade, "tool "+t.Name)
		if v := t.Validator; v != nil {
			add(v.needs, v.Cascade, "validator "+v.Name)
		}
	}
	for _, c := range p.Checks() {
		if n.all || c.Ward.Mode.Stands() {
			add(c.Validator.needs, c.Validator.Cascade, "validator "+c.Validator.Name)
		}
	}
}
