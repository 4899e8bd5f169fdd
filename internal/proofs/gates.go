package proofs

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/wards"
)

// An analyzer follows taints through a cascade.
type analyzer struct {
	sources  []Source
	sourceOf map[sourceKey]int
	gates    []Gate
	gateOf   map[any]int // by the ward, or by the phase that is a gate
	ways     map[string]Path
	writers  map[syntax.Position]bool
	ends     map[*cascades.Cascade]map[string]*facts // facts at the end of a cascade, by its initial facts
	work     int
}

type sourceKey struct {
	phase *cascades.Phase
	what  string
}

// maxWork is the maximum work of a proof. A larger cascade has no proof.
const maxWork = 20_000_000

func newAnalyzer() *analyzer {
	return &analyzer{
		sourceOf: map[sourceKey]int{}, gateOf: map[any]int{}, ways: map[string]Path{}, writers: map[syntax.Position]bool{},
		ends: map[*cascades.Cascade]map[string]*facts{},
	}
}

func (a *analyzer) exceeded() bool { return a.work > maxWork }

// source returns the taint of a new text.
func (a *analyzer) source(c *cascades.Cascade, p *cascades.Phase, what string) taints {
	key := sourceKey{p, what}
	n, there := a.sourceOf[key]
	if !there {
		n = len(a.sources)
		a.sources = append(a.sources, Source{what, c.ID, p.Name, p.Position})
		a.sourceOf[key] = n
	}
	return taints{newTaint(n, nil, nil)}
}

// gate returns the number of the gate with the key by.
func (a *analyzer) gate(by any, g Gate) int {
	n, there := a.gateOf[by]
	if !there {
		n = len(a.gates)
		a.gates = append(a.gates, g)
		a.gateOf[by] = n
	}
	return n
}

func (a *analyzer) check(c *cascades.Cascade, p *cascades.Phase, check *cascades.Check) int {
	return a.gate(check.Ward, Gate{check.Ward.Name, c.ID, p.Name, string(p.Moment(check)), string(check.Ward.Mode), check.Validator, p, c})
}

// judges returns the gates of a phase's text and those of its output. If a
// person edited the text, some checks have not seen it.
func (a *analyzer) judges(c *cascades.Cascade, p *cascades.Phase, edited bool) (text, value []int) {
	list := slices.Clone(p.Wards.Post)
	if p.Rules.Loop != nil {
		list = append(list, p.Rules.Loop)
	}
	if !edited {
		list = append(list, p.Wards.Turn...)
	}
	if p.Soundings != nil && p.Soundings.Filter != nil { // on_exhausted cannot release a text that the filter rejects
		list = append(list, p.Soundings.Filter)
	}
	for _, check := range list {
		filter := p.Soundings != nil && check == p.Soundings.Filter
		if judges(check.Validator) && (filter || isBinding(p, check)) {
			text = append(text, a.check(c, p, check))
		}
	}
	value = slices.Clone(text)
	if p.SchemaWard != nil && !p.Rules.Releases() {
		value = append(value, a.gate(p.SchemaWard, Gate{p.SchemaWard.Name, c.ID, p.Name, string(p.SchemaWard.Moment), string(p.SchemaWard.Mode), nil, p, c}))
	}
	return text, value
}

// isBinding reports whether the phase never releases a text that the check
// rejects or cannot read.
func isBinding(p *cascades.Phase, check *cascades.Check) bool {
	return check.Ward.Mode == wards.Blocking || check.Ward.Mode.Enforces() && !p.Rules.Releases()
}

// callGates returns the gates of a model's call of a tool.
func (a *analyzer) callGates(c *cascades.Cascade, p *cascades.Phase, t *cascades.Tool) []int {
	gates := a.callChecks(c, p, p.Wards.Tool, t.Name)
	if t.Receipt != nil && t.Receipt.Alone {
		gates = append(gates, a.receipt(c, p, t.Receipt))
	}
	return gates
}

// receipt returns the gate that a receipt stands for.
func (a *analyzer) receipt(c *cascades.Cascade, p *cascades.Phase, r *cascades.Receipt) int {
	names := make([]string, len(r.Gates))
	for i, g := range r.Gates {
		names[i] = g.String()
	}
	return a.gate(r, Gate{"a receipt of " + strings.Join(names, ", "), c.ID, p.Name, "receipt", "blocking", nil, p, c})
}

// callChecks returns the gates among the checks of a tool's input.
func (a *analyzer) callChecks(c *cascades.Cascade, p *cascades.Phase, list []*cascades.Check, tool string) (gates []int) {
	for _, check := range list {
		if check.Ward.Mode.Enforces() && check.Guards(tool) && judges(check.Validator) {
			gates = append(gates, a.check(c, p, check))
		}
	}
	return gates
}

// recordWrite records the taints in a call of a tool that writes.
func (a *analyzer) recordWrite(c *cascades.Cascade, p *cascades.Phase, t *cascades.Tool, s taints) {
	a.writers[t.Position] = true
	for _, one := range s {
		w := Path{Tool: t.Name, At: t.Position, Cascade: c.ID, Phase: p.Name, From: a.sources[one.from], Through: append([]string{}, one.via...), Gates: []Gate{}}
		for _, g := range one.gates {
			w.Gates = append(w.Gates, a.gates[g])
		}
		key := t.Position.String() + " " + t.Name + " " + one.key
		if _, known := a.ways[key]; !known {
			a.ways[key] = w
		}
	}
}
