package batch

import (
	"cmp"
	"slices"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/model"
)

// A tally counts what the rows of a batch come to, as they come. What it holds
// does not grow with the rows. It is not safe for concurrent use.
type tally struct {
	times  int
	order  []string // of phases, as the file has them
	report Report
	visits map[visitKey]*AttemptRate
	gates  map[gateKey]*GateRate
	open   map[int]int // how often a row was done that is to be done more often

	pass    [][2]Mean // by k-1: any of k, all of k
	usage   model.Usage
	seconds float64
}

type visitKey struct {
	phase   string
	attempt int
}

type gateKey struct {
	phase, moment, validator, mode string
	index                          int
}

// newTally makes one for a batch whose rows are done so many times each.
func newTally(times int) *tally {
	times = max(times, 1)
	return &tally{
		times: times, visits: map[visitKey]*AttemptRate{}, gates: map[gateKey]*GateRate{}, open: map[int]int{}, pass: make([][2]Mean, times),
	}
}

// Add counts an outcome, in whatever order they come: what it has of phases and
// verdicts, which those that are given in order have not any more.
func (t *tally) Add(o *Outcome) {
	r := &t.report
	r.Runs++
	accepted := o.Accepted()
	r.Accepted.Add(o.Row, accepted)
	r.Degraded.Add(o.Row, o.Status == runner.Succeeded && !accepted)
	r.Blocked.Add(o.Row, o.Status == runner.Blocked)
	r.Exhausted.Add(o.Row, o.Status == runner.Exhausted)
	unreadable := o.Error != nil && o.Error.Code == Unreadable
	r.Failed.Add(o.Row, o.Status == runner.Failed)
	if unreadable {
		r.Unreadable++
	}
	if known := []string{runner.Succeeded, runner.Blocked, runner.Exhausted, runner.Failed}; !slices.Contains(known, o.Status) {
		r.Unfinished++
	}
	r.FirstTry.Add(o.Row, o.first)
	t.usage, t.seconds = t.usage.Add(o.Usage), t.seconds+o.Seconds
	if o.expects {
		r.expected(o, accepted)
	}
	for _, v := range o.Phases {
		t.visit(o.Row, v)
	}
	for i := range o.Verdicts {
		t.verdict(o.Row, &o.Verdicts[i])
	}
	if t.open[o.Row]++; t.open[o.Row] == t.times {
		t.close(o.Row)
	}
}

// close forgets the runs of a row that was done as often as it is to be.
func (t *tally) close(row int) {
	delete(t.open, row)
	r := &t.report
	for _, rate := range []*measure.Clustered{&r.Accepted, &r.Degraded, &r.Blocked, &r.Exhausted, &r.Failed, &r.FirstTry} {
		rate.Close(row)
	}
	if r.Quality != nil {
		r.Quality.Right.Close(row)
		r.Quality.Overall.Close(row)
	}
	for _, a := range t.visits {
		a.Accepted.Close(row)
	}
	for _, g := range t.gates {
		g.Passed.Close(row)
		g.First.Close(row)
	}
}

// expected counts an outcome of a row that says what it should be.
func (r *Report) expected(o *Outcome, accepted bool) {
	if r.Quality == nil {
		r.Quality = &Quality{}
	}
	q := r.Quality
	right := o.Expected != nil && *o.Expected
	q.Overall.Add(o.Row, accepted && right)
	switch {
	case accepted && o.Expected == nil:
		q.Unknown++
	case accepted:
		q.Right.Add(o.Row, right)
	}
}

// visit counts the attempts of one: the last was released or not, those before it
// were not. Where something broke, nobody knows what would have become of the
// last.
func (t *tally) visit(row int, v Visit) {
	for n := 1; n <= v.Attempts; n++ {
		last := n == v.Attempts
		if last && v.Status != runner.Succeeded && v.Status != runner.Blocked && v.Status != runner.Exhausted && v.Status != "degraded" {
			continue
		}
		key := visitKey{v.Phase, n}
		if t.visits[key] == nil {
			t.visits[key] = &AttemptRate{Phase: v.Phase, Attempt: n}
		}
		t.visits[key].Accepted.Add(row, last && v.Status == runner.Succeeded)
	}
}

func (t *tally) verdict(row int, v *event.Verdict) {
	key := gateKey{v.Phase, v.Asked(), v.Validator, v.Mode, v.Index()}
	g := t.gates[key]
	if g == nil {
		g = &GateRate{Phase: v.Phase, Moment: key.moment, Index: key.index, Validator: v.Validator, Mode: v.Mode}
		t.gates[key] = g
	}
	switch {
	case v.Error != nil:
		g.Errors++
	case v.Valid == nil:
		g.Skipped++
	default:
		g.Passed.Add(row, *v.Valid)
		if v.Attempt <= 1 {
			g.First.Add(row, *v.Valid)
		}
	}
}

// Row counts a row that was done as often as it is to be.
func (t *tally) Row(s Shares) {
	for k := 1; k <= t.times && s.Runs == t.times; k++ {
		t.pass[k-1][0].Add(anyOf(s.Runs, s.Accepted, k))
		t.pass[k-1][1].Add(allOf(s.Runs, s.Accepted, k))
	}
	t.report.Rows++
}

// anyOf is the chance that of k out of n, c of which are accepted, one is: pass@k
// (Chen et al., arXiv 2107.03374).
func anyOf(n, c, k int) float64 { return 1 - allOf(n, n-c, k) }

// allOf is the chance that all of k out of n, c of which are accepted, are: pass^k.
func allOf(n, c, k int) float64 {
	p := 1.0
	for i := range k {
		p *= max(float64(c-i), 0) / float64(n-i)
	}
	return p
}

// Report is what was counted so far.
func (t *tally) Report() Report {
	r := t.report
	r.Times, r.Usage, r.Seconds = t.times, t.usage, t.seconds
	if n := float64(r.Accepted.K); n > 0 {
		r.PerAccepted = &PerAccepted{Calls: float64(t.usage.Calls) / n, Tokens: float64(t.usage.Tokens()) / n, CostUSD: t.usage.CostUSD / n, Seconds: t.seconds / n}
	}
	for k := range t.pass {
		r.Pass = append(r.Pass, PassRate{K: k + 1, Any: t.pass[k][0].Estimate(true), All: t.pass[k][1].Estimate(true)})
	}
	r.Attempts, r.Gates = []AttemptRate{}, []GateRate{}
	for _, a := range t.visits {
		r.Attempts = append(r.Attempts, *a)
	}
	for _, g := range t.gates {
		r.Gates = append(r.Gates, *g)
	}
	slices.SortFunc(r.Attempts, func(a, b AttemptRate) int {
		return cmp.Or(t.compare(a.Phase, b.Phase), cmp.Compare(a.Attempt, b.Attempt))
	})
	slices.SortFunc(r.Gates, func(a, b GateRate) int {
		return cmp.Or(t.compare(a.Phase, b.Phase), cmp.Compare(moment(a), moment(b)), cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.Validator, b.Validator), cmp.Compare(a.Mode, b.Mode))
	})
	return r
}

// compare orders phases as the file has them. Phases of other files follow, by name.
func (t *tally) compare(a, b string) int {
	at := func(phase string) int {
		if i := slices.Index(t.order, phase); i >= 0 {
			return i
		}
		return len(t.order)
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b))
}

// moment orders the moments of checks as they come in a phase.
func moment(g GateRate) int {
	moments := []string{"pre", "tool", "result", "turn", "output_schema", "loop_until", event.Filter, event.Threshold, "post"}
	return slices.Index(moments, g.Moment)
}
