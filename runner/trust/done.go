package trust

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/measure"
)

// done takes what labels bring along, and makes the report.
func (b *builder) done() *Report {
	for _, l := range b.Labels.Natural() {
		b.labelled(l)
	}
	for _, l := range b.Labels.Planted() {
		for _, g := range b.Report.Gates {
			if passed, said := l.Verdicts[g.Digest]; said && l.Phase == g.Phase {
				g.plant(l, passed)
			}
		}
	}
	b.orphans()
	for _, g := range b.Report.Gates {
		g.done()
	}
	for _, p := range b.Report.Phases {
		p.Released, p.FalseBlock = p.Texts.BadReleased(), p.Texts.FalseBlock()
	}
	for _, p := range b.Labels.Pairs() {
		b.People = append(b.People, People{p.First, p.Second, p.Confusion.Agreement(), kappa(p.Confusion), p.Confusion.Base()})
	}
	b.Unknown, b.Uncounted = len(b.unseen), b.uncounted()
	b.Contradictions = b.Labels.Contradictions()
	b.only()
	return b.Report
}

// labelled counts a label of a text of which no run has what the gates say: with
// what they said of it elsewhere, or say now.
func (b *builder) labelled(l measure.Label) {
	text := l.Text[:measure.TextDigits]
	for _, g := range b.Report.Gates {
		known := b.known(l.Text, g)
		if l.Phase != g.Phase || !known.Labelled || known.Weight == 0 || g.seen[text] {
			continue
		}
		passed, said := l.Verdicts[g.Digest]
		if !said && b.Judge != nil {
			if passed, said = b.Judge(g.gate, l.Text); said {
				g.Anew++
			}
		}
		if said {
			g.natural(text, known, passed)
		}
	}
}

// uncounted returns how many labelled texts no rate uses, for nobody knows how they
// were drawn.
func (b *builder) uncounted() int {
	drawn := map[[2]string]bool{}
	for _, l := range b.Labels.Natural() {
		at := [2]string{l.Text, l.Phase}
		drawn[at] = drawn[at] || l.Weight() > 0
	}
	n := 0
	for _, known := range drawn {
		if !known {
			n++
		}
	}
	return n
}

// orphans tells of labels of gates that the cascade does not have, or no longer.
func (b *builder) orphans() {
	count := map[string]int{}
	for _, l := range b.Labels.Natural() {
		was := func(g *Gate) bool { return g.Phase == l.Phase && slices.Contains(g.names, l.Gate) }
		if l.Gate != measure.All && !b.has(l.Phase, l.Gate) && !slices.ContainsFunc(b.Report.Gates, was) {
			count[l.Phase+" "+l.Gate]++
		}
	}
	for _, at := range slices.Sorted(maps.Keys(count)) {
		are := "s are"
		if count[at] == 1 {
			are = " is"
		}
		b.Notes = append(b.Notes, fmt.Sprintf("%d label%s of a gate that the cascade does not have: %s", count[at], are, at))
	}
}

// plant counts a planted fault.
func (g *Gate) plant(l measure.Label, passed bool) {
	rate := &g.PlantedAlways
	if l.Sure == measure.Usually {
		rate = &g.PlantedUsually
	}
	rate.Add(passed)
	i := slices.IndexFunc(g.Planted, func(p measure.Planted) bool { return p.Operator == l.Planted && p.Sure == l.Sure })
	if i < 0 {
		i = len(g.Planted)
		g.Planted = append(g.Planted, measure.Planted{Operator: l.Planted, Sure: l.Sure})
	}
	if g.Planted[i].N++; !passed {
		g.Planted[i].Caught++
	}
}

func (g *Gate) done() {
	g.FalsePass, g.FalseBlock = g.Natural.FalsePass(), g.Natural.FalseBlock()
	g.Kappa, g.Base = kappa(g.Natural.Random()), g.Natural.Random().Base()
	g.Next = g.next()
	if f := g.FalsePass; f.N > 0 && (len(g.Steps) == 0 || g.Steps[len(g.Steps)-1].N != f.N) {
		g.Steps = append(g.Steps, f)
	}
	if n := float64(g.Passed.N); n > 0 {
		g.Cost, g.Seconds = g.cost/n, g.took.Seconds()/n
	}
}

// only leaves the gate that was asked for.
func (b *builder) only() {
	if b.Gate == "" {
		return
	}
	b.Report.Gates = slices.DeleteFunc(b.Report.Gates, func(g *Gate) bool { return g.Gate != b.Gate })
	b.Report.Phases = slices.DeleteFunc(b.Report.Phases, func(p *Phase) bool {
		return !slices.ContainsFunc(b.Report.Gates, func(g *Gate) bool { return g.Phase == p.Phase })
	})
}

// Validator is the gate's; nil of an output_schema.
func (g *Gate) Validator() *cascades.Validator { return g.gate.Validator }

// Measurable tells whether there is anything to keep of the gate.
func (g *Gate) Measurable() bool {
	return g.Passed.N+g.Natural.Texts().N()+len(g.Planted) > 0 || g.Hollow != nil
}

// Measured is what the report says of the gate, as evidence: measured by that
// capstan, up to its last verdict.
func (g *Gate) Measured(cascade, by string) measure.Evidence {
	return measure.Evidence{
		Digest: g.Digest, Cascade: cascade, Phase: g.Phase, Moment: g.Moment, Models: g.Models, Time: g.last.UTC(), By: by,
		Since: g.from, Natural: g.Natural, Planted: g.Planted, Asks: g.gate.Validator != nil && !g.gate.Validator.Free(), Hollow: g.Hollow,
		Passed: g.Passed.K, Verdicts: g.Passed.N,
	}
}
