package trust

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/wards"
)

// A builder builds a result.
type builder struct {
	Question
	*Result
	phases map[string]*Phase
	past   map[string]*version
	run    string
	unseen map[string]bool // labelled texts that are in no run so far
}

// A gateKey is the place of a verdict in a cascade.
type gateKey struct{ phase, moment, place, name string }

// A version is the state of the gates in runs with the same files and models.
type version struct {
	digests map[gateKey]string
	changed map[string]*Change // by phase, if its releasing gates differed; without times
}

func newBuilder(q Question) *builder {
	b := &builder{Question: q, phases: map[string]*Phase{}, past: map[string]*version{}, unseen: map[string]bool{}, Result: &Result{
		CascadeID: q.CascadeID, Gates: []*Gate{}, Phases: []*Phase{}, People: []People{}, Notes: []string{}, FalseAlarms: q.FalseAlarms,
	}}
	for _, l := range q.Labels.Natural() {
		b.unseen[l.Text[:stats.TextDigits]] = true
	}
	for _, g := range q.Gates {
		p := b.phases[g.Phase]
		if p == nil {
			p = &Phase{Phase: g.Phase, Texts: stats.Tally{}, ByAttempt: []stats.Rate{}, seen: map[string]bool{}}
			b.phases[g.Phase], b.Result.Phases = p, append(b.Result.Phases, p)
		}
		one := b.gate(g)
		b.Result.Gates = append(b.Result.Gates, one)
		if releases(g) {
			p.counted = append(p.counted, one)
		}
	}
	return b
}

// releases reports whether the phase releases a text only if the gate passes it.
func releases(g cascades.Gate) bool {
	counts := g.Mode == wards.Blocking || g.Mode == wards.Retry
	return counts && (g.Moment == wards.Post || g.Moment == wards.OutputSchema || g.Moment == wards.LoopUntil)
}

func (b *builder) gate(g cascades.Gate) *Gate {
	one := &Gate{
		Phase: g.Phase, Moment: string(g.Moment), Gate: g.Name, Mode: string(g.Mode), Digest: g.Digest, Models: g.Model.Names(), Evidence: "none",
		Natural: stats.Tally{}, Steps: []stats.Estimate{}, Planted: []stats.Planted{}, gate: g, seen: map[string]bool{},
	}
	if b.Question.Evidence == nil {
		return one
	}
	e, found, stale := b.Question.Evidence(g)
	switch {
	case found:
		one.Evidence, one.EmptyTexts, one.since, one.from = "current", e.EmptyTexts, e.Time, e.Since
		one.base = stats.Rate{K: e.Passed, N: e.Verdicts}
		if e.Since.IsZero() || one.base.N >= Baseline {
			one.chart = stats.NewChart(one.base, b.Question.FalseAlarms)
		}
	case stale:
		one.Evidence = "stale"
	}
	return one
}

// version returns what the gates were in a run.
func (b *builder) version(a *journal.Attempt) *version {
	if known := b.past[a.Version]; known != nil {
		return known
	}
	known := &version{map[gateKey]string{}, map[string]*Change{}}
	gates, err := b.Past(a.RunID)
	if err != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("the gates of run %s and similar runs are unknown: %v", a.RunID, err))
	}
	for _, g := range gates {
		known.digests[gateKey{g.Phase, string(g.Moment), g.Place, g.Name}] = g.Digest
	}
	for _, p := range b.Result.Phases {
		if c := p.changed(gates); c != nil {
			known.changed[p.Phase] = c
		}
	}
	b.past[a.Version] = known
	return known
}

// changed returns how the phase's releasing gates differ from those of another time,
// nil if they are the same.
func (p *Phase) changed(then []cascades.Gate) *Change {
	then = slices.DeleteFunc(slices.Clone(then), func(g cascades.Gate) bool { return g.Phase != p.Phase || !releases(g) })
	var change *Change
	for _, now := range p.counted {
		i := slices.IndexFunc(then, func(g cascades.Gate) bool { return string(g.Moment) == now.Moment && g.Digest == now.Digest })
		if i >= 0 {
			then = slices.Delete(then, i, i+1)
			continue
		}
		if slices.ContainsFunc(then, func(g cascades.Gate) bool { return g.Name == now.Gate && string(g.Moment) == now.Moment }) {
			return &Change{Gate: now.Gate, How: "changed"}
		}
		change = &Change{Gate: now.Gate, How: "was added"}
	}
	if change == nil && len(then) > 0 {
		change = &Change{Gate: then[0].Name, How: "was removed"}
	}
	return change
}

func (b *builder) attempt(a *journal.Attempt) {
	if a.RunID != b.run {
		b.run = a.RunID
		b.Runs++
	}
	if a.Number > 0 {
		b.Attempts++
		if a.Shared {
			b.Shared++
		}
	}
	delete(b.unseen, a.Text)
	was := b.version(a)
	change := was.changed[a.Phase]
	for i := range a.Verdicts {
		v := &a.Verdicts[i]
		delete(b.unseen, v.Text)
		digest := was.digests[gateKey{a.Phase, v.Moment, v.Place(), v.Validator}]
		g := b.gateOf(a.Phase, v, digest)
		switch {
		case g == nil:
		case g.Digest != digest || digest == "":
			g.stale(v, "changed")
		case v.Time.Before(g.from):
			g.stale(v, "drifted")
			if change == nil && releases(g.gate) {
				change = &Change{Gate: g.Gate, How: "drifted"}
			}
		default:
			b.addName(g, v.Validator)
			b.verdict(g, a, v)
			if v.Valid != nil && v.Text == a.Text {
				g.lastVerdict = v.Valid
			}
		}
	}
	if p := b.phases[a.Phase]; p != nil {
		rejected, passed := p.takeVerdicts()
		switch {
		case len(p.counted) == 0 || a.Text == "" || a.Number == 0 || a.Edited:
		case change != nil:
			p.Stale++
			p.Since = change.before(p.Since, a.Started)
		default:
			p.Attempts++
			p.Since.after(a.Started)
			b.phase(p, a, rejected, passed)
		}
	}
}

// stale counts a verdict of an earlier version of the gate.
func (g *Gate) stale(v *journal.Judgement, how string) {
	if v.Valid != nil {
		g.Stale++
		g.Since = (&Change{Gate: g.Gate, How: how}).before(g.Since, v.Time)
	}
}

// before returns the change with one more time before it.
func (c *Change) before(known *Change, at time.Time) *Change {
	found := *c
	if known != nil {
		found.First, found.Last = known.First, known.Last
		if !at.After(known.Last) {
			found.Gate, found.How = known.Gate, known.How
		}
	}
	if at.After(found.Last) {
		found.Last = at
	}
	if !found.First.After(found.Last) { // the gate changed back
		found.First = time.Time{}
	}
	return &found
}

// after sets the first time after the change.
func (c *Change) after(at time.Time) {
	if c != nil && c.First.IsZero() && at.After(c.Last) {
		c.First = at
	}
}

// takeVerdicts counts the last verdicts of the releasing gates on a text, and clears them.
func (p *Phase) takeVerdicts() (rejected, passed int) {
	for _, g := range p.counted {
		switch {
		case g.lastVerdict == nil:
		case *g.lastVerdict:
			passed++
		default:
			rejected++
		}
		g.lastVerdict = nil
	}
	return rejected, passed
}

// gateOf returns the gate of a verdict, or nil. A gate with the same digest is preferred to a gate
// with the same name, and then a gate at the same place.
func (b *builder) gateOf(phase string, v *journal.Judgement, digest string) (found *Gate) {
	best := 0
	for _, g := range b.Result.Gates {
		if g.Phase != phase || g.Moment != v.Moment {
			continue
		}
		near := 0
		if g.Digest == digest && digest != "" {
			near += 4
		}
		if g.Gate == v.Validator {
			near += 2
		}
		if near > 0 && g.gate.Place == v.Place() {
			near++
		}
		if near > best {
			found, best = g, near
		}
	}
	return found
}

// addName stores an earlier name of the gate, unless another gate has the name now.
func (b *builder) addName(g *Gate, name string) {
	if name != g.Gate && !slices.Contains(g.names, name) && !b.has(g.Phase, name) {
		g.names = append(g.names, name)
	}
}

// has reports whether a gate of the phase has the name.
func (b *builder) has(phase, name string) bool {
	return slices.ContainsFunc(b.Result.Gates, func(g *Gate) bool { return g.Phase == phase && g.Gate == name })
}

// known returns the label of a text for the gate.
func (b *builder) known(text string, g *Gate) stats.Known {
	return b.Labels.Of(text, g.Phase, append([]string{g.Gate}, g.names...)...)
}

func (b *builder) verdict(g *Gate, a *journal.Attempt, v *journal.Judgement) {
	switch {
	case v.Broke:
		g.Errors++
		return
	case v.Valid == nil:
		g.Skipped++
		return
	}
	g.Since.after(v.Time)
	if !v.Shared {
		g.countOwn(a, v, b.Question.FalseAlarms)
	}
	if known := b.known(v.Text, g); v.Text != "" && known.Labelled && !g.seen[v.Text] {
		g.natural(v.Text, known, *v.Valid)
		g.inRuns.Add(known.Good, *v.Valid)
	}
}

// countOwn counts a verdict that is not shared with another run.
func (g *Gate) countOwn(a *journal.Attempt, v *journal.Judgement, alarms int) {
	g.Passed.Add(*v.Valid)
	g.took, g.cost = g.took+v.Took, g.cost+v.Usage.CostUSD
	if v.Time.After(g.last) {
		g.last = v.Time
	}
	if g.gate.Validator != nil && g.gate.Validator.Votes > 1 && v.Score != nil {
		g.Unanimous.Add(*v.Score == 0 || *v.Score == 1)
	}
	g.drift(a, v, alarms)
}

// natural counts a labelled text.
func (g *Gate) natural(text string, known stats.Known, passed bool) {
	g.seen[text] = true
	g.Natural.Add(known.Weight, known.Good, passed)
	if f := g.Natural.FalsePass(); !known.Good && known.Weight > 0 && step(f.N) {
		g.Steps = append(g.Steps, f)
	}
}

// step reports whether an estimate is stored after n texts: 5, 10, 20, 50, 100 and so on.
func step(n int) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 5 || n == 2 || n == 1
}

// drift counts a verdict after the baseline.
func (g *Gate) drift(a *journal.Attempt, v *journal.Judgement, alarms int) {
	switch {
	case !g.since.IsZero() && !v.Time.After(g.since):
		return
	case g.chart == nil:
		if g.base.Add(*v.Valid); g.base.N == Baseline {
			g.chart = stats.NewChart(g.base, alarms)
		}
		return
	}
	if g.Drift == nil {
		g.Drift = &Drift{Baseline: g.base}
	}
	g.Drift.Since.Add(*v.Valid)
	if g.chart.Add(*v.Valid) {
		g.Drift.Alarm = &Alarm{g.chart.Alarm(), a.RunID, string(v.Path), v.Time}
	}
	g.Drift.Level, g.Drift.Course = g.chart.Level(), g.chart.Course()
}

// phase counts an attempt of unchanged gates with the number of rejections and passes of its text.
// If a gate was skipped, another gate must have rejected the text.
func (b *builder) phase(p *Phase, a *journal.Attempt, rejected, passed int) {
	if rejected == 0 && passed < len(p.counted) {
		return
	}
	if a.Number == 1 && !a.Shared {
		p.Accepted.Add(rejected == 0)
	}
	known := b.Labels.Of(a.Text, p.Phase, stats.All)
	if !known.Labelled || known.Weight == 0 || p.seen[a.Text] {
		return
	}
	p.seen[a.Text] = true
	p.Texts.Add(known.Weight, known.Good, rejected == 0)
	if rejected == 0 {
		for len(p.ByAttempt) < a.Number {
			p.ByAttempt = append(p.ByAttempt, stats.Rate{})
		}
		p.ByAttempt[a.Number-1].Add(!known.Good)
	}
}

// kappa returns kappa with six decimals, or nil if it is unknown.
func kappa(c stats.Confusion) *float64 {
	k := c.Kappa()
	if math.IsNaN(k) {
		return nil
	}
	k = math.Round(k*1e6)/1e6 + 0 // no negative zero
	return &k
}
