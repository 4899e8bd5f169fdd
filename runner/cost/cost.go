// Package cost tells what an accepted output of a phase costs, and would cost with
// another budget, another ladder of models, or an earlier end of what leads
// nowhere.
//
// In come the kept attempts of a cascade's runs ([Builder.Add], in the order of
// the runs); out comes a [Report] of each phase: how often an attempt is accepted
// where those before it were not, by its number, by the model that wrote, by the
// gate that said no and by the reason, one that comes twice in a row told apart;
// what an accepted output costs as it stands; and what the same runs would have
// cost otherwise.
//
// A shorter budget, or giving up on a reason that comes again, is what was kept cut
// shorter: nothing is supposed of it. A ladder is put together of models as they
// did at the same attempt of other tries, so that it supposes that whose no came
// before does not matter; a model at an attempt at which it was hardly ever seen
// is in none. Nothing is said of what no run has tried. The first half of the runs
// chooses an advice, and the second half must show that it saves.
package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Report tells what accepted outputs cost.
type Report struct {
	CascadeID  string   `json:"cascade_id"`
	Runs       int      `json:"runs"`
	Unfinished int      `json:"unfinished"` // tries that did not come to an end, and are left out
	Shared     int      `json:"shared"`     // tries of which another run had a text, and that are left out too
	Phases     []*Phase `json:"phases"`
}

// A Phase is what its accepted outputs cost.
type Phase struct {
	Phase     string       `json:"phase"`
	Now       Option       `json:"now"`
	ByAttempt []Step       `json:"by_attempt"`
	ByRung    []Step       `json:"by_rung"`
	ByGate    []After      `json:"by_gate"`
	ByReason  []After      `json:"by_reason"`
	Fresh     measure.Rate `json:"after_new_reason"`  // accepted next, after a reason that was not that of the attempt before
	Again     measure.Rate `json:"after_same_reason"` // accepted next, after one that was
	Others    []Option     `json:"others"`
	Advice    *Option      `json:"advice"`      // nil where the runs show no cheaper way
	Tested    int          `json:"tested_runs"` // that advice was looked for in
	Released  string       `json:"released"`    // the bad among the released texts, in words; "" if nobody has asked
}

// An Option is what the runs cost in one way of doing them.
type Option struct {
	Name     string            `json:"name"`
	Attempts int               `json:"attempts,omitempty"` // that a try has at most; 0 where the name says otherwise
	Accepted measure.Rate      `json:"accepted"`           // of the tries; of a ladder, as it is expected of as many
	Price    Price             `json:"price"`
	Around   *measure.Interval `json:"interval"` // of its money, or of its calls where there is none; nil of a ladder
	Saving   float64           `json:"saving"`   // of the price as it stands: 0.2 is a fifth
	Saves    *measure.Interval `json:"saves"`    // of an advice, where its saving lies by 95 % confidence
	Check    *Check            `json:"check"`    // nil where there are too few runs
}

// A Price is what one accepted output takes, what was not accepted included.
type Price struct {
	CostUSD float64 `json:"cost_usd"`
	Calls   float64 `json:"model_calls"`
	Seconds float64 `json:"seconds"`
}

// of is the number that options are compared by: money where there is any, else
// calls.
func (p Price) of(money bool) float64 {
	if money {
		return p.CostUSD
	}
	return p.Calls
}

// A Check holds what the first half of the runs says against the second.
type Check struct {
	Predicted float64 `json:"predicted"`
	Came      float64 `json:"came"`
	Error     float64 `json:"error"` // of what came: 0.1 is a tenth too much

	// Expected is where it comes to in 95 cases of 100, by the chance of both
	// halves alone; nil where that is not known, as of a ladder.
	Expected *measure.Interval `json:"expected"`
}

// A Step is how often an attempt of a number, by a model where one is named, was
// accepted where those before it were not, and what one takes.
type Step struct {
	Attempt  int          `json:"attempt"`
	Model    string       `json:"model,omitempty"`
	Accepted measure.Rate `json:"accepted"`
	Price    Price        `json:"price"` // of one attempt
}

// After is how often the next attempt was accepted after a no.
type After struct {
	Gate   string       `json:"gate"`
	Reason string       `json:"reason,omitempty"` // without its numbers
	Next   measure.Rate `json:"next"`             // where the attempt before did not fail for the same
	Again  measure.Rate `json:"again"`            // where it did
}

// A Builder takes attempts and makes the report.
type Builder struct {
	report Report
	run    string
	phases map[string]*tally
	order  []string
	open   map[string]*try // of the run, by the paths that their attempts stand below
	opened []*try          // the same, in the order in which they began
}

// A tally is a phase in the making.
type tally struct {
	tries   []*try
	gates   map[string]*After
	reasons map[[2]string]*After
}

// A try is the attempts of one conversation.
type try struct {
	run      int
	at       string // the path that its attempts stand below
	attempts []one
	over     bool
	shared   bool
	several  bool // soundings by several models
}

// one is one attempt.
type one struct {
	accepted bool
	model    string
	gate     string
	reason   string // with the gate's name
	price    Price
}

// NewBuilder makes one for a cascade.
func NewBuilder(cascade string) *Builder {
	return &Builder{report: Report{CascadeID: cascade, Phases: []*Phase{}}, phases: map[string]*tally{}}
}

// Add takes the next attempt. What a person wrote, and what pre-wards ask, costs
// nothing here. All soundings of a visit, with what chooses among them, make one
// output: they are one attempt. What chooses among soundings of the whole cascade is
// paid for the output of the last phase in them, which is the cascade's.
func (b *Builder) Add(a *journal.Attempt) {
	if a.RunID != b.run {
		b.closeRun()
		b.run, b.open, b.opened = a.RunID, map[string]*try{}, nil
		b.report.Runs++
	}
	of, sounding := visitOf(a.Path)
	if a.Number == 0 && !sounding || a.Edited || a.Phase == "" {
		return
	}
	above := of
	if !sounding {
		above = string(a.Path.Up())
	}
	t := b.open[above]
	if t == nil {
		t = &try{run: b.report.Runs, at: above}
		b.open[above] = t
		b.opened = append(b.opened, t)
		p := b.phases[a.Phase]
		if p == nil {
			p = &tally{gates: map[string]*After{}, reasons: map[[2]string]*After{}}
			b.phases[a.Phase] = p
			b.order = append(b.order, a.Phase)
		}
		p.tries = append(p.tries, t)
	}
	if t.shared = t.shared || a.Shared; sounding {
		t.sound(a)
	} else {
		t.attempts = append(t.attempts, oneOf(a))
	}
	switch a.Outcome {
	case "succeeded", "exhausted", "blocked":
		t.over = true
	}
}

var soundings = patterns.Lazy(`/sounding\[[0-9]+\]`)

// visitOf returns the visit that an attempt is of, and whether it is one of soundings,
// or what is asked beside them. The soundings of a visit, or of the whole cascade, have
// the same.
func visitOf(at event.Path) (visit string, sounding bool) {
	name, _, _ := event.Numbered(at.Last())
	switch {
	case at.Up() == "": // a phase may be called so
	case name == "evaluator":
		at = at.Up().At("sounding", 0)
	case name == "attempt", name == "mutation":
		at = at.Up()
	}
	visit = soundings().ReplaceAllString(string(at), "/sounding")
	return visit, visit != string(at)
}

// ofWhole is the visit that soundings of the whole cascade are, and within it stands
// what the phases do in them.
const (
	ofWhole = cascades.TriesName + "/sounding"
	within  = ofWhole + "/attempt[1]/tool/"
)

// settle adds what was asked beside soundings of the whole cascade, which are no
// attempts themselves, to the last phase that was accepted in them, or else to the last
// that came to an end.
func (b *Builder) settle() {
	beside := b.open[ofWhole]
	if beside == nil || beside.over {
		return
	}
	var last *try
	for _, t := range b.opened {
		if strings.HasPrefix(t.at, within) && t.over && (last == nil || t.attempts[0].accepted || !last.attempts[0].accepted) {
			last = t
		}
	}
	if last == nil {
		return
	}
	for _, o := range beside.attempts {
		last.attempts[0].price = last.attempts[0].price.plus(o.price, 1)
	}
	last.shared = last.shared || beside.shared
	delete(b.open, ofWhole)
}

// sound adds what soundings cost to the one attempt that they are.
func (t *try) sound(a *journal.Attempt) {
	o := oneOf(a)
	if len(t.attempts) == 0 {
		t.attempts = []one{{gate: o.gate, reason: o.reason, model: o.model}}
	}
	all := &t.attempts[0]
	all.price = all.price.plus(o.price, 1)
	if a.Number == 0 {
		return
	}
	switch {
	case o.model == "" || t.several:
	case all.model == "":
		all.model = o.model
	case all.model != o.model:
		all.model, t.several = "", true
	}
	if all.accepted = all.accepted || o.accepted; all.accepted {
		all.gate, all.reason = "", ""
	} else {
		all.gate, all.reason = o.gate, o.reason
	}
}

// oneOf is an attempt as it is counted. Its reason is all that refused it.
func oneOf(a *journal.Attempt) one {
	o := one{
		accepted: a.Outcome == "succeeded", model: a.Model,
		price: Price{a.Usage.CostUSD, float64(a.Usage.Calls), a.Took.Seconds()},
	}
	var reasons []string
	for _, v := range a.Verdicts {
		if v.Valid == nil || *v.Valid || v.Mode != "retry" && v.Mode != "blocking" || v.Text != a.Text {
			continue
		}
		o.gate = cmp.Or(o.gate, v.Validator)
		reasons = append(reasons, v.Validator+": "+numberless(v.Reason))
	}
	if o.accepted {
		return o
	}
	o.gate, o.reason = cmp.Or(o.gate, a.Outcome), cmp.Or(strings.Join(reasons, "; "), a.Outcome)
	return o
}

var numbers = patterns.Lazy(`[0-9]+([.,][0-9]+)*`)

// numberless is a reason without its numbers, which are others each time: that a
// text has 312 characters is the reason that it has 298. The name of a long one
// is as it is.
func numberless(reason string) string {
	if strings.HasPrefix(reason, "#text:") {
		return reason
	}
	return numbers().ReplaceAllString(reason, "#")
}

// closeRun counts the tries that did not come to an end, and those that cost less
// than they would.
func (b *Builder) closeRun() {
	b.settle()
	for _, t := range b.open {
		switch {
		case t.shared:
			b.report.Shared++
		case !t.over:
			b.report.Unfinished++
		}
	}
}

// Report is the report of what was added. Released is what is known of the bad among
// the released texts of each phase, in words.
func (b *Builder) Report(released map[string]string) *Report {
	b.closeRun()
	b.open, b.opened = nil, nil
	for _, name := range b.order {
		t := b.phases[name]
		t.tries = slices.DeleteFunc(t.tries, func(t *try) bool { return !t.over || t.shared })
		if len(t.tries) == 0 {
			continue
		}
		p := t.phase(name)
		p.Released = released[name]
		b.report.Phases = append(b.report.Phases, p)
	}
	return &b.report
}

// phase makes the report of one phase.
func (t *tally) phase(name string) *Phase {
	p := &Phase{Phase: name}
	for _, tried := range t.tries {
		for i, o := range tried.attempts[:len(tried.attempts)-1] {
			t.after(p, tried.attempts, i, o)
		}
	}
	h := seen(t.tries)
	p.ByAttempt, p.ByRung = h.byAttempt(), h.byRung()
	p.ByGate, p.ByReason = sorted(t.gates), sorted(t.reasons)
	t.options(p, h)
	return p
}

// after counts what came after the i-th attempt, which was refused.
func (t *tally) after(p *Phase, attempts []one, i int, o one) {
	again := i > 0 && attempts[i-1].reason == o.reason
	next := attempts[i+1].accepted
	g, r := t.gates[o.gate], t.reasons[[2]string{o.gate, o.reason}]
	if g == nil {
		g = &After{Gate: o.gate}
		t.gates[o.gate] = g
	}
	if r == nil {
		r = &After{Gate: o.gate, Reason: o.reason}
		t.reasons[[2]string{o.gate, o.reason}] = r
	}
	if again {
		p.Again.Add(next)
		g.Again.Add(next)
		r.Again.Add(next)
	} else {
		p.Fresh.Add(next)
		g.Next.Add(next)
		r.Next.Add(next)
	}
}

// sorted lists what came after noes, the most frequent first.
func sorted[K comparable](all map[K]*After) []After {
	list := make([]After, 0, len(all))
	for _, a := range all {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b After) int {
		return cmp.Or(cmp.Compare(b.Next.N+b.Again.N, a.Next.N+a.Again.N), strings.Compare(a.Gate, b.Gate), strings.Compare(a.Reason, b.Reason))
	})
	return list
}
