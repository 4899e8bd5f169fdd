package cascades

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Bounds of each, where the file does not say otherwise.
const (
	defaultItems    = 100
	defaultParallel = 8
)

var isVariable = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// each reads the list that a phase is done for.
func (p *parser) each(o *object) *Each {
	if o == nil {
		return nil
	}
	e := &Each{
		As:          o.text("as"),
		MaxItems:    o.whole("max_items", 1, defaultItems),
		MaxParallel: o.whole("max_parallel", 1, defaultParallel),
		Keep:        o.oneOf("on_failure", "stop", "keep") == "keep",
	}
	e.As = cmp.Or(e.As, "item")
	switch n := o.get("in"); {
	case n == nil:
		o.needs("in")
	case n.Kind == yaml.SequenceNode, n.Kind == yaml.ScalarNode && plainVariable().MatchString(strings.TrimSpace(n.Value)):
		e.In = Values{"in": p.plain(n, func(n *yaml.Node) any { return p.templated(n, phaseVariables) })}
		if n.Kind == yaml.ScalarNode {
			p.lists = append(p.lists, listed{n, e.In})
		}
	default:
		p.report(n, CodeValue, "in must be a list, or one variable that holds a list, such as {{ outputs.plan.items }}")
	}
	switch n := o.value["as"]; {
	case !isVariable().MatchString(e.As):
		p.report(n, CodeValue, "as must be a name of letters, digits and _, not %q", e.As)
	case e.As == Index || slices.Contains(checkVariables, e.As) || slices.Contains(loopVariables, e.As):
		p.report(n, CodeConflict, "%s is a variable already", e.As)
	}
	if list, ok := e.In["in"].([]any); ok && len(list) > e.MaxItems {
		p.report(o.value["in"], CodeValue, "the list has %d items; max_items is %d", len(list), e.MaxItems)
	}
	o.done()
	p.locals = []string{e.As, Index}
	return e
}

// A listed is the variable of a list that a phase is done for, where it stands.
type listed struct {
	node *yaml.Node
	in   Values
}

// checkLists warns of lists that are the text of a phase.
func (p *parser) checkLists() {
	if len(p.lists) == 0 || p.found.Broken() {
		return
	}
	texts, brought := map[string]bool{}, map[string]bool{}
	for _, phase := range p.cascade.EveryPhase() {
		texts[phase.Name] = phase.givesText()
		for _, s := range phase.Subs {
			brought[s.Cascade.ID] = s.ContextOut || brought[s.Cascade.ID]
		}
	}
	for _, l := range p.lists {
		for _, n := range l.in.Names() {
			if len(n.Path) == 2 && n.Path[0] == "outputs" && texts[n.Path[1]] && !brought[n.Path[1]] {
				p.warn(l.node, CodeType, "in must be a list, and phase %s gives a text: with an output_schema it gives a list", n.Path[1])
			}
		}
	}
}

// givesText tells whether the output of the phase is a text whatever is said.
func (p *Phase) givesText() bool {
	return (p.Instructions != nil || p.Compose != nil) && p.Each == nil && p.OutputSchema == nil && (p.Extraction == nil || !p.Extraction.JSON)
}

// checkEach reports what a phase that is done for every item of a list may not
// have: its items run side by side and lead nowhere.
func (p *parser) checkEach(o *object, phase *Phase) {
	if phase.Each == nil {
		return
	}
	o.conflict("human_input", "human_input cannot stand beside each: put a phase that asks behind %s", o.what)
	if phase.asksOnTheWay() {
		p.report(o.node, CodeConflict, "ask_human cannot stand beside each: put a phase that asks behind %s", o.what)
	}
	if phase.Chooses() {
		o.conflict("handoffs", "the model of an item cannot choose where the run goes: give the handoffs of %s conditions, or name one", o.what)
	}
}

// most is how many items there are at most.
func (e *Each) most() int {
	if list, ok := e.In["in"].([]any); ok {
		return len(list)
	}
	return e.MaxItems
}

// together reads the phases of a group.
func (p *parser) together(group *object) []*Phase {
	if !group.has("together") {
		return nil
	}
	var list []*Phase
	was := p.grouped
	p.grouped = group.what
	for _, n := range group.list("together") {
		if phase := p.phase(n); phase != nil {
			list = append(list, phase)
		}
	}
	p.grouped = was
	if n := group.get("together"); n.Kind == yaml.SequenceNode && len(n.Content) < 2 {
		p.report(n, CodeValue, "together needs at least two phases: %s has %d", group.what, len(n.Content))
	}
	return list
}

// checkGrouped reports what a phase of a group may not have: phases that run side
// by side lead nowhere and hear nothing of each other.
func (p *parser) checkGrouped(o *object) {
	o.conflict("together", "groups cannot stand within groups: list the phases of %s beside the others", o.what)
	o.conflict("handoffs", "%s is part of %s: the group's own handoffs say where the run goes on", o.what, p.grouped)
}

// checkGroups reports what the phases of a group know of each other, and ways
// that lead into a group or out of it.
func (p *parser) checkGroups() {
	group := map[string]string{} // phase → the group it is part of
	for _, phase := range p.cascade.Phases {
		for _, one := range phase.Together {
			group[one.Name] = phase.Name
		}
	}
	for _, u := range p.uses {
		if g := group[u.phase]; g != "" && u.by != u.phase && g == group[u.by] {
			p.reportAt(u.at(), CodePhase, "phase %s runs beside phase %s, in group %s, and cannot read what it gives", u.by, u.phase, g)
		}
	}
	for _, r := range p.routes {
		switch g := group[r.name]; {
		case r.what == "context" && g != "" && g == group[r.by]:
			p.report(r.node, CodePhase, "phase %s runs beside phase %s, in group %s, and has nothing to give it", r.name, r.by, g)
		case r.what == "context":
		case g != "":
			p.report(r.node, CodePhase, "%s: phase %s is part of group %s: lead to the group", r.what, r.name, g)
		case group[r.by] != "":
			p.report(r.node, CodePhase, "%s: phase %s is part of group %s, and a group is left as a whole", r.what, r.by, group[r.by])
		}
	}
}
