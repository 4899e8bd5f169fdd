package proofs

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/wards"
)

// A prover follows strands through a cascade.
type prover struct {
	sources  []Source
	sourceOf map[sourceKey]int
	gates    []Gate
	gateOf   map[any]int // by the ward, or by the phase that is a gate
	ways     map[string]Way
	writers  map[cascades.Position]bool
	ends     map[*cascades.Cascade]map[string]*spot // what a cascade that was begun at a spot ends with
	work     int
}

type sourceKey struct {
	phase *cascades.Phase
	what  string
}

// maxProof bounds the work of a proof: beyond it there is none.
const maxProof = 20_000_000

func newProver() *prover {
	return &prover{
		sourceOf: map[sourceKey]int{}, gateOf: map[any]int{}, ways: map[string]Way{}, writers: map[cascades.Position]bool{},
		ends: map[*cascades.Cascade]map[string]*spot{},
	}
}

func (a *prover) beyond() bool { return a.work > maxProof }

// source is the strand of a new text.
func (a *prover) source(c *cascades.Cascade, p *cascades.Phase, what string) strands {
	key := sourceKey{p, what}
	n, there := a.sourceOf[key]
	if !there {
		n = len(a.sources)
		a.sources = append(a.sources, Source{what, c.ID, p.Name, p.Position})
		a.sourceOf[key] = n
	}
	return strands{newStrand(n, nil, nil)}
}

// gate is the number of a gate; by is what it is known by.
func (a *prover) gate(by any, g Gate) int {
	n, there := a.gateOf[by]
	if !there {
		n = len(a.gates)
		a.gates = append(a.gates, g)
		a.gateOf[by] = n
	}
	return n
}

func (a *prover) check(c *cascades.Cascade, p *cascades.Phase, check *cascades.Check) int {
	return a.gate(check.Ward, Gate{check.Ward.Name, c.ID, p.Name, string(p.Moment(check)), string(check.Ward.Mode), check.Validator, p, c})
}

// judges are the gates of a text that the phase lets out, and of the value that is
// its output. Of what a person makes of the text some have not judged it.
func (a *prover) judges(c *cascades.Cascade, p *cascades.Phase, edited bool) (text, value []int) {
	list := slices.Clone(p.Wards.Post)
	if p.Rules.Loop != nil {
		list = append(list, p.Rules.Loop)
	}
	if !edited {
		list = append(list, p.Wards.Turn...)
	}
	if p.Soundings != nil && p.Soundings.Filter != nil { // what it refuses is let out by no on_exhausted
		list = append(list, p.Soundings.Filter)
	}
	for _, check := range list {
		filter := p.Soundings != nil && check == p.Soundings.Filter
		if judges(check.Validator) && (filter || holds(p, check)) {
			text = append(text, a.check(c, p, check))
		}
	}
	value = slices.Clone(text)
	if p.SchemaWard != nil && !p.Rules.Releases() {
		value = append(value, a.gate(p.SchemaWard, Gate{p.SchemaWard.Name, c.ID, p.Name, string(p.SchemaWard.Moment), string(p.SchemaWard.Mode), nil, p, c}))
	}
	return text, value
}

// holds tells whether nothing that the check refuses, or cannot read, is let out.
func holds(p *cascades.Phase, check *cascades.Check) bool {
	return check.Ward.Mode == wards.Blocking || check.Ward.Mode.Stands() && !p.Rules.Releases()
}

// callGates are the gates of a model's call of a tool.
func (a *prover) callGates(c *cascades.Cascade, p *cascades.Phase, t *cascades.Tool) []int {
	gates := a.standing(c, p, p.Wards.Tool, t.Name)
	if t.Receipt != nil && t.Receipt.Alone {
		gates = append(gates, a.receipt(c, p, t.Receipt))
	}
	return gates
}

// receipt is the gate that a receipt is.
func (a *prover) receipt(c *cascades.Cascade, p *cascades.Phase, r *cascades.Receipt) int {
	names := make([]string, len(r.Gates))
	for i, g := range r.Gates {
		names[i] = g.String()
	}
	return a.gate(r, Gate{"a receipt of " + strings.Join(names, ", "), c.ID, p.Name, "receipt", "blocking", nil, p, c})
}

// standing are the gates among the checks of what a tool is given.
func (a *prover) standing(c *cascades.Cascade, p *cascades.Phase, list []*cascades.Check, tool string) (gates []int) {
	for _, check := range list {
		if check.Ward.Mode.Stands() && check.Guards(tool) && judges(check.Validator) {
			gates = append(gates, a.check(c, p, check))
		}
	}
	return gates
}

// writes notes what gets into the calls of a tool that writes.
func (a *prover) writes(c *cascades.Cascade, p *cascades.Phase, t *cascades.Tool, s strands) {
	a.writers[t.Position] = true
	for _, one := range s {
		w := Way{Tool: t.Name, At: t.Position, Cascade: c.ID, Phase: p.Name, From: a.sources[one.from], Through: append([]string{}, one.via...), Gates: []Gate{}}
		for _, g := range one.gates {
			w.Gates = append(w.Gates, a.gates[g])
		}
		key := t.Position.String() + " " + t.Name + " " + one.key
		if _, told := a.ways[key]; !told {
			a.ways[key] = w
		}
	}
}
