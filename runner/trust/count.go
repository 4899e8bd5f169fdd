package trust

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/wards"
)

// A builder makes a report.
type builder struct {
	Question
	*Report
	phases map[string]*Phase
	past   map[string]*version
	run    string
	unseen map[string]bool // labelled texts that no run has given yet
}

// A spot is where a verdict stands in a cascade.
type spot struct{ phase, moment, place, name string }

// A version is what the gates were in runs of the same files and models.
type version struct {
	digests map[spot]string
	changed map[string]*Change // by phase, whose releasing gates were others; without times
}

func newBuilder(q Question) *builder {
	b := &builder{Question: q, phases: map[string]*Phase{}, past: map[string]*version{}, unseen: map[string]bool{}, Report: &Report{
		CascadeID: q.CascadeID, Gates: []*Gate{}, Phases: []*Phase{}, People: []People{}, Notes: []string{}, FalseAlarms: q.FalseAlarms,
	}}
	for _, l := range q.Labels.Natural() {
		b.unseen[l.Text[:measure.TextDigits]] = true
	}
	for _, g := range q.Gates {
		p := b.phases[g.Phase]
		if p == nil {
			p = &Phase{Phase: g.Phase, Texts: measure.Tally{}, ByAttempt: []measure.Rate{}, seen: map[string]bool{}}
			b.phases[g.Phase], b.Report.Phases = p, append(b.Report.Phases, p)
		}
		one := b.gate(g)
		b.Report.Gates = append(b.Report.Gates, one)
		if releases(g) {
			p.counted = append(p.counted, one)
		}
	}
	return b
}

// releases tells whether a text of the phase is let out only with the gate's yes.
func releases(g cascades.Gate) bool {
	counts := g.Mode == wards.Blocking || g.Mode == wards.Retry
	return counts && (g.Moment == wards.Post || g.Moment == wards.OutputSchema || g.Moment == wards.LoopUntil)
}

func (b *builder) gate(g cascades.Gate) *Gate {
	one := &Gate{
		Phase: g.Phase, Moment: string(g.Moment), Gate: g.Name, Mode: string(g.Mode), Digest: g.Digest, Models: g.Model.Names(), Evidence: "none",
		Natural: measure.Tally{}, Steps: []measure.Estimate{}, Planted: []measure.Planted{}, gate: g, seen: map[string]bool{},
	}
	if b.Question.Evidence == nil {
		return one
	}
	e, found, stale := b.Question.Evidence(g)
	switch {
	case found:
		one.Evidence, one.Hollow, one.since, one.from = "kept", e.Hollow, e.Time, e.Since
		one.base = measure.Rate{K: e.Passed, N: e.Verdicts}
		if e.Since.IsZero() || one.base.N >= Baseline {
			one.chart = measure.NewChart(one.base, b.Question.FalseAlarms)
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
	known := &version{map[spot]string{}, map[string]*Change{}}
	gates, err := b.Past(a.RunID)
	if err != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("the gates of run %s and similar runs are unknown: %v", a.RunID, err))
	}
	for _, g := range gates {
		known.digests[spot{g.Phase, string(g.Moment), g.Place, g.Name}] = g.Digest
	}
	for _, p := range b.Report.Phases {
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
		digest := was.digests[spot{a.Phase, v.Moment, v.Place(), v.Validator}]
		g := b.of(a.Phase, v, digest)
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
			b.called(g, v.Validator)
			b.verdict(g, a, v)
			if v.Valid != nil && v.Text == a.Text {
				g.says = v.Valid
			}
		}
	}
	if p := b.phases[a.Phase]; p != nil {
		noes, yeses := p.say()
		switch {
		case len(p.counted) == 0 || a.Text == "" || a.Number == 0 || a.Edited:
		case change != nil:
			p.Stale++
			p.Since = change.before(p.Since, a.Started)
		default:
			p.Attempts++
			p.Since.after(a.Started)
			b.phase(p, a, noes, yeses)
		}
	}
}

// stale counts a verdict of what the gate was before.
func (g *Gate) stale(v *journal.Judgement, how string) {
	if v.Valid != nil {
		g.Stale++
		g.Since = (&Change{Gate: g.Gate, How: how}).before(g.Since, v.Time)
	}
}

// before returns the change as of a further time before it.
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
	if !found.First.After(found.Last) { // what it is now it also was before
		found.First = time.Time{}
	}
	return &found
}

// after notes the first time after the change.
func (c *Change) after(at time.Time) {
	if c != nil && c.First.IsZero() && at.After(c.Last) {
		c.First = at
	}
}

// say tells how many of the gates that release a text said no and yes to that of the
// attempt, each with its last word, and forgets it.
func (p *Phase) say() (noes, yeses int) {
	for _, g := range p.counted {
		switch {
		case g.says == nil:
		case *g.says:
			yeses++
		default:
			noes++
		}
		g.says = nil
	}
	return noes, yeses
}

// of finds the gate that a verdict is of: the one that is still what it was, by
// whatever name it goes now, else the one that has its name; of several the one
// that stands where it was given.
func (b *builder) of(phase string, v *journal.Judgement, digest string) (found *Gate) {
	best := 0
	for _, g := range b.Report.Gates {
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

// called notes a name that the gate had, where none has it now.
func (b *builder) called(g *Gate, name string) {
	if name != g.Gate && !slices.Contains(g.names, name) && !b.has(g.Phase, name) {
		g.names = append(g.names, name)
	}
}

// has tells whether some gate of the phase has the name.
func (b *builder) has(phase, name string) bool {
	return slices.ContainsFunc(b.Report.Gates, func(g *Gate) bool { return g.Phase == phase && g.Gate == name })
}

// known is what people say of a text for the gate.
func (b *builder) known(text string, g *Gate) measure.Known {
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
		g.said(a, v, b.Question.FalseAlarms)
	}
	if known := b.known(v.Text, g); v.Text != "" && known.Labelled && !g.seen[v.Text] {
		g.natural(v.Text, known, *v.Valid)
		g.lived.Add(known.Good, *v.Valid)
	}
}

// said counts a verdict that the gate gave, and no other run's.
func (g *Gate) said(a *journal.Attempt, v *journal.Judgement, alarms int) {
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

// natural counts a text that people labelled.
func (g *Gate) natural(text string, known measure.Known, passed bool) {
	g.seen[text] = true
	g.Natural.Add(known.Weight, known.Good, passed)
	if f := g.Natural.FalsePass(); !known.Good && known.Weight > 0 && step(f.N) {
		g.Steps = append(g.Steps, f)
	}
}

// step tells of numbers at which an estimate is noted: 5, 10, 20, 50, 100 and so on.
func step(n int) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 5 || n == 2 || n == 1
}

// drift follows a verdict behind the baseline.
func (g *Gate) drift(a *journal.Attempt, v *journal.Judgement, alarms int) {
	switch {
	case !g.since.IsZero() && !v.Time.After(g.since):
		return
	case g.chart == nil:
		if g.base.Add(*v.Valid); g.base.N == Baseline {
			g.chart = measure.NewChart(g.base, alarms)
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

// phase counts an attempt of unchanged gates with the number of rejections and passes of
// its text. A gate may be skipped only if another one rejected the text.
func (b *builder) phase(p *Phase, a *journal.Attempt, noes, yeses int) {
	if noes == 0 && yeses < len(p.counted) {
		return
	}
	if a.Number == 1 && !a.Shared {
		p.Accepted.Add(noes == 0)
	}
	known := b.Labels.Of(a.Text, p.Phase, measure.All)
	if !known.Labelled || known.Weight == 0 || p.seen[a.Text] {
		return
	}
	p.seen[a.Text] = true
	p.Texts.Add(known.Weight, known.Good, noes == 0)
	if noes == 0 {
		for len(p.ByAttempt) < a.Number {
			p.ByAttempt = append(p.ByAttempt, measure.Rate{})
		}
		p.ByAttempt[a.Number-1].Add(!known.Good)
	}
}

// kappa is nil where it is unknown; it has six digits behind the point, as rates
// have, so that what is 0 but for the arithmetic is 0.
func kappa(c measure.Confusion) *float64 {
	k := c.Kappa()
	if math.IsNaN(k) {
		return nil
	}
	k = math.Round(k*1e6)/1e6 + 0 // of -0 too
	return &k
}
