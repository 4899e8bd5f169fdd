package cascades

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
)

// The default limits of each.
const (
	defaultItems    = 100
	defaultParallel = 8
)

var isVariable = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)

// each reads the value of the key each.
func (p *parser) each(o *reader.Object) *Each {
	if o == nil {
		return nil
	}
	e := &Each{
		As:          o.Text("as"),
		MaxItems:    o.Whole("max_items", 1, defaultItems),
		MaxParallel: o.Whole("max_parallel", 1, defaultParallel),
		Keep:        o.OneOf("on_failure", "stop", "keep") == "keep",
	}
	e.As = cmp.Or(e.As, "item")
	switch n := o.Get("in"); {
	case n == nil:
		o.Needs("in")
	case n.Kind == yaml.SequenceNode, n.Kind == yaml.ScalarNode && plainVariable().MatchString(strings.TrimSpace(n.Value)):
		e.In = Values{"in": p.Plain(n, func(n *yaml.Node) any { return p.templated(n, phaseVariables) })}
		if n.Kind == yaml.ScalarNode {
			p.facts.Lists = append(p.facts.Lists, checks.List{Node: n, Reads: e.In.Names()})
		}
	default:
		p.Error(n, codes.Value, "in must be a list, or one variable that holds a list, such as {{ outputs.plan.items }}")
	}
	switch n := o.Value["as"]; {
	case !isVariable().MatchString(e.As):
		p.Error(n, codes.Value, "as must be a name of letters, digits and _, not %q", e.As)
	case e.As == keywords.Index || slices.Contains(checkVariables, e.As) || slices.Contains(loopVariables, e.As):
		p.Error(n, codes.Conflict, "%s is a variable already", e.As)
	}
	if list, ok := e.In["in"].([]any); ok && len(list) > e.MaxItems {
		p.Error(o.Value["in"], codes.Value, "the list has %d items; max_items is %d", len(list), e.MaxItems)
	}
	o.Done()
	p.locals = []string{e.As, keywords.Index}
	return e
}

// outputsText reports whether the output of the phase is always a text.
func (p *Phase) outputsText() bool {
	return (p.Instructions != nil || p.Compose != nil) && p.Each == nil && p.OutputSchema == nil && (p.Extraction == nil || !p.Extraction.JSON)
}

// most returns the length of a fixed list, or else the maximum number of items.
func (e *Each) most() int {
	if list, ok := e.In["in"].([]any); ok {
		return len(list)
	}
	return e.MaxItems
}

// together reads the phases of a group.
func (p *parser) together(group *reader.Object) []*Phase {
	if !group.Has("together") {
		return nil
	}
	var list []*Phase
	outer := p.grouped
	p.grouped = group.What
	for _, n := range group.List("together") {
		if phase := p.phase(n); phase != nil {
			list = append(list, phase)
		}
	}
	p.grouped = outer
	if n := group.Get("together"); n.Kind == yaml.SequenceNode && len(n.Content) < 2 {
		p.Error(n, codes.Value, "together needs at least two phases: %s has %d", group.What, len(n.Content))
	}
	return list
}
