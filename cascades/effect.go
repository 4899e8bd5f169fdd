package cascades

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// A guard is a tool that a ward around tools names, where it stands.
type guard struct {
	node *yaml.Node
	name string
}

// checkGuards reports what wards around tools name that the phase may not use.
func (p *parser) checkGuards(phase *Phase) {
	var names []string
	for _, t := range phase.Tackle {
		names = append(names, t.Name)
	}
	for _, g := range p.guards {
		if !slices.Contains(names, g.name) && !p.broken["tool "+g.name] {
			p.report(g.node, CodeTool, "phase %s has no tool %q in its tackle", phase.Name, g.name)
			p.suggest(g.name, func() []string { return names })
		}
	}
	p.guards = nil
}

// deaf warns of a phase that calls its tool again after a refusal, with the same
// arguments: its inputs read neither the reasons nor the attempt.
func (p *parser) deaf(n *yaml.Node, phase *Phase) {
	retries := func(c *Check) bool { return c.Ward.Mode == wards.Retry }
	if phase.Tool.Validator != nil || !slices.ContainsFunc(phase.Wards.Post, retries) {
		return
	}
	if !slices.ContainsFunc([]string{"validation_error", "schema_error", "attempt"}, phase.Inputs.Reads) {
		p.warn(n, CodeDeaf, "a retry ward calls the tool of phase %s again, and its inputs read neither validation_error nor attempt: it gets the same arguments", phase.Name)
	}
}

// ungated warns of tools that write at a model's word alone.
func (p *parser) ungated(o *object, phase *Phase) {
	gated := func(t *Tool) bool {
		return t.Receipt != nil || slices.ContainsFunc(phase.Wards.Tool, func(c *Check) bool { return stands(c) && c.Guards(t.Name) })
	}
	for _, n := range o.list("tackle") {
		i := slices.IndexFunc(phase.Tackle, func(t *Tool) bool { return t.named == n.Value })
		if i >= 0 && phase.Tackle[i].Effect == tool.Writes && !gated(phase.Tackle[i]) {
			p.warn(n, CodeUngated, "tool %s writes, and no blocking or retrying tool ward of phase %s looks at its calls before they act", phase.Tackle[i].Name, phase.Name)
		}
	}
}

// stands tells whether what the check refuses goes no further.
func stands(c *Check) bool { return c.Ward.Mode.Stands() }

// An act is a phase that runs a tool, and where it names it.
type act struct {
	node  *yaml.Node
	phase *Phase
}

// checkActs warns of phases that write what a model said and nobody has looked
// at: neither a pre-ward of theirs nor a check of the text that was released.
func (p *parser) checkActs() {
	var kept *kept
	for _, a := range p.acts {
		t := a.phase.Tool
		if t != nil {
			p.deaf(a.node, a.phase)
		}
		if t == nil || t.Effect != tool.Writes || t.Receipt != nil || slices.ContainsFunc(a.phase.Wards.Pre, stands) {
			continue
		}
		if kept == nil {
			kept = p.cascade.kept()
		}
		for _, from := range kept.bare(a.phase) {
			p.warn(a.node, CodeUngated, "tool %s writes, and takes what phase %s says: no blocking pre-ward of phase %s looks at it, nor a blocking or retrying check of phase %s",
				t.Name, from.Name, a.phase.Name, from.Name)
		}
	}
}
