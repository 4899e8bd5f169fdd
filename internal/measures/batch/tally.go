package batch

import (
	"cmp"
	"slices"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A tally counts the outcomes of a batch. Its size does not grow with the number of rows. It is not
// safe for concurrent use.
type tally struct {
	times  int
	order  []string // of phases in the file
	result Result
	visits map[visitKey]*AttemptRate
	gates  map[gateKey]*GateRate
	failed map[failureKey]*Failure
	open   map[int]int // the number of runs of unfinished rows

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

type failureKey struct{ status, phase, check, reason string }

// newTally returns a tally for rows with this number of runs.
func newTally(times int) *tally {
	times = max(times, 1)
	return &tally{
		times: times, visits: map[visitKey]*AttemptRate{}, gates: map[gateKey]*GateRate{}, failed: map[failureKey]*Failure{},
		open: map[int]int{}, pass: make([][2]Mean, times),
	}
}

// Add counts an outcome with its phases and verdicts. The order does not matter.
func (t *tally) Add(o *Outcome) {
	r := &t.result
	r.Runs++
	accepted := o.Accepted()
	r.Accepted.Add(o.Row, accepted)
	r.Degraded.Add(o.Row, o.Status == engine.Succeeded && !accepted)
	r.Blocked.Add(o.Row, o.Status == engine.Blocked)
	r.Exhausted.Add(o.Row, o.Status == engine.Exhausted)
	unreadable := o.Error != nil && o.Error.Code == Unreadable
	r.Failed.Add(o.Row, o.Status == engine.Failed)
	if unreadable {
		r.Unreadable++
	}
	if known := []string{engine.Succeeded, engine.Blocked, engine.Exhausted, engine.Failed}; !slices.Contains(known, o.Status) {
		r.Unfinished++
	}
	r.FirstTry.Add(o.Row, o.first)
	t.usage, t.seconds = t.usage.Add(o.Usage), t.seconds+o.Seconds
	if o.expects {
		r.expected(o, accepted)
	}
	if o.Error != nil {
		t.failure(o)
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

// close closes the clusters of a row after its last run.
func (t *tally) close(row int) {
	delete(t.open, row)
	r := &t.result
	for _, rate := range []*stats.Clustered{&r.Accepted, &r.Degraded, &r.Blocked, &r.Exhausted, &r.Failed, &r.FirstTry} {
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

// expected counts an outcome with an expectation.
func (r *Result) expected(o *Outcome, accepted bool) {
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

// visit counts the attempts of a visit. Only the last attempt can have been released. After an
// error, the last attempt does not count.
func (t *tally) visit(row int, v engine.PhaseRecord) {
	for n := 1; n <= v.Attempts; n++ {
		last := n == v.Attempts
		if last && v.Status != engine.Succeeded && v.Status != engine.Blocked && v.Status != engine.Exhausted && v.Status != "degraded" {
			continue
		}
		key := visitKey{v.Name, n}
		if t.visits[key] == nil {
			t.visits[key] = &AttemptRate{Phase: v.Name, Attempt: n}
		}
		t.visits[key].Accepted.Add(row, last && v.Status == engine.Succeeded)
	}
}

func (t *tally) verdict(row int, v *event.Verdict) {
	key := gateKey{v.Phase, v.CheckMoment(), v.Validator, v.Mode, v.Index()}
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

// Row counts a row after its last run.
func (t *tally) Row(s RowSums) {
	for k := 1; k <= t.times && s.Runs == t.times; k++ {
		t.pass[k-1][0].Add(anyOf(s.Runs, s.Accepted, k))
		t.pass[k-1][1].Add(allOf(s.Runs, s.Accepted, k))
	}
	t.result.Rows++
}

// anyOf returns the chance that at least one of k out of n runs is accepted, c of which are: pass@k
// (Chen et al., arXiv 2107.03374).
func anyOf(n, c, k int) float64 { return 1 - allOf(n, n-c, k) }

// allOf returns the chance that all of k out of n runs are accepted, c of which are: pass^k.
func allOf(n, c, k int) float64 {
	p := 1.0
	for i := range k {
		p *= max(float64(c-i), 0) / float64(n-i)
	}
	return p
}

// Result returns the counts so far.
func (t *tally) Result() Result {
	r := t.result
	r.Times, r.Usage, r.Seconds = t.times, t.usage, t.seconds
	if n := float64(r.Accepted.K); n > 0 {
		r.PerAccepted = &PerAccepted{Calls: float64(t.usage.Calls) / n, Tokens: float64(t.usage.Tokens()) / n, CostUSD: t.usage.CostUSD / n, Seconds: t.seconds / n}
	}
	for k := range t.pass {
		r.Pass = append(r.Pass, PassRate{K: k + 1, Any: t.pass[k][0].Estimate(true), All: t.pass[k][1].Estimate(true)})
	}
	r.Attempts, r.Gates, r.Failures = []AttemptRate{}, []GateRate{}, t.failures()
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

// moment returns the position of a check's moment in a phase.
func moment(g GateRate) int {
	moments := []string{"pre", "tool", "result", "turn", "output_schema", "loop_until", event.Filter, event.Threshold, "post"}
	return slices.Index(moments, g.Moment)
}
