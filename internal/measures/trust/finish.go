package trust

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// done counts the labels and completes the result.
func (b *builder) done() *Result {
	for _, l := range b.Labels.Natural() {
		b.labelled(l)
	}
	for _, l := range b.Labels.Planted() {
		for _, g := range b.Result.Gates {
			if passed, found := l.Verdicts[g.Digest]; found && l.Phase == g.Phase {
				g.plant(l, passed)
			}
		}
	}
	b.orphans()
	for _, g := range b.Result.Gates {
		g.done()
	}
	for _, p := range b.Result.Phases {
		p.Released, p.FalseBlock = p.Texts.BadReleased(), p.Texts.FalseBlock()
	}
	for _, p := range b.Labels.Pairs() {
		b.People = append(b.People, People{p.First, p.Second, p.Confusion.Agreement(), kappa(p.Confusion), p.Confusion.Base()})
	}
	b.Unknown, b.Uncounted = len(b.unseen), b.uncounted()
	b.Contradictions = b.Labels.Contradictions()
	b.restrict()
	return b.Result
}

// labelled counts a label of a text without a verdict in a run. The verdict is that of the label,
// or of the gate now.
func (b *builder) labelled(l stats.Label) {
	text := l.Text[:stats.TextDigits]
	for _, g := range b.Result.Gates {
		known := b.known(l.Text, g)
		if l.Phase != g.Phase || !known.Labelled || known.Weight == 0 || g.seen[text] {
			continue
		}
		passed, found := l.Verdicts[g.Digest]
		if !found && b.Judge != nil {
			if passed, found = b.Judge(g.gate, l.Text); found {
				g.Rerun++
			}
		}
		if found {
			g.natural(text, known, passed)
		}
	}
}

// uncounted returns the number of labelled texts that no rate uses, because their draw is unknown.
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

// orphans adds notes about labels of unknown gates.
func (b *builder) orphans() {
	count := map[string]int{}
	for _, l := range b.Labels.Natural() {
		was := func(g *Gate) bool { return g.Phase == l.Phase && slices.Contains(g.names, l.Gate) }
		if l.Gate != stats.All && !b.has(l.Phase, l.Gate) && !slices.ContainsFunc(b.Result.Gates, was) {
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
func (g *Gate) plant(l stats.Label, passed bool) {
	rate := &g.PlantedAlways
	if l.Sure == stats.Usually {
		rate = &g.PlantedUsually
	}
	rate.Add(passed)
	i := slices.IndexFunc(g.Planted, func(p stats.Planted) bool { return p.Operator == l.Planted && p.Sure == l.Sure })
	if i < 0 {
		i = len(g.Planted)
		g.Planted = append(g.Planted, stats.Planted{Operator: l.Planted, Sure: l.Sure})
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

// restrict removes all gates except the requested one.
func (b *builder) restrict() {
	if b.Gate == "" {
		return
	}
	b.Result.Gates = slices.DeleteFunc(b.Result.Gates, func(g *Gate) bool { return g.Gate != b.Gate })
	b.Result.Phases = slices.DeleteFunc(b.Result.Phases, func(p *Phase) bool {
		return !slices.ContainsFunc(b.Result.Gates, func(g *Gate) bool { return g.Phase == p.Phase })
	})
}

// Validator returns the validator of the gate, or nil for output_schema.
func (g *Gate) Validator() *cascades.Validator { return g.gate.Validator }

// Measurable reports whether there is evidence of the gate.
func (g *Gate) Measurable() bool {
	return g.Passed.N+g.Natural.Texts().N()+len(g.Planted) > 0 || g.EmptyTexts != nil
}

// Measured returns the result of the gate as evidence.
func (g *Gate) Measured(cascade, by string) stats.Evidence {
	return stats.Evidence{
		Digest: g.Digest, Cascade: cascade, Phase: g.Phase, Moment: g.Moment, Models: g.Models, Time: g.last.UTC(), By: by,
		Since: g.from, Natural: g.Natural, Planted: g.Planted, AsksModel: g.gate.Validator != nil && !g.gate.Validator.Free(), EmptyTexts: g.EmptyTexts,
		Passed: g.Passed.K, Verdicts: g.Passed.N,
	}
}
