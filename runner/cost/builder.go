package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Builder takes attempts and makes the report.
type Builder struct {
	report Report
	run    string
	phases map[string]*tally
	order  []string
	open   map[string]*output // of the run, by their visits
	opened []*output          // the same, in the order in which they began
}

// A tally is a phase in the making.
type tally struct {
	outputs []*output
	gates   map[string]*After
	reasons map[[2]string]*After
}

// An output is the result of one visit to a phase: a text, or with each the list of the
// items' texts.
type output struct {
	run      int
	visit    string
	phase    string
	tries    []*try
	beside   Price // of pre-wards, sub-cascades and checks of a person's text
	over     bool
	accepted bool
	shared   bool
}

// A try is the attempts of one conversation.
type try struct {
	at       string // the path that its attempts stand below
	attempts []one
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

// Add takes the next attempt. A visit makes one output, and every call of the visit is
// part of its price: calls of all items of each, pre-wards, sub-cascades, soundings and
// their evaluator. Soundings together are one attempt. The evaluator of soundings of the
// whole cascade is part of the price of the last phase in them.
func (b *Builder) Add(a *journal.Attempt) {
	if a.RunID != b.run {
		b.closeRun()
		b.run, b.open, b.opened = a.RunID, map[string]*output{}, nil
		b.report.Runs++
	}
	at, sounding := conversation(a.Path)
	o := b.output(visitOf(at))
	o.phase = cmp.Or(o.phase, a.Phase)
	o.shared = o.shared || a.Shared
	o.over = o.over || a.Visit != ""
	o.accepted = o.accepted || a.Visit == "succeeded"
	switch {
	case sounding:
		o.try(at).sound(a)
	case a.Number == 0 || a.Edited:
		o.beside = o.beside.plus(oneOf(a).price, 1)
	default:
		t := o.try(at)
		t.attempts = append(t.attempts, oneOf(a))
	}
}

// output returns the output of a visit in the open run.
func (b *Builder) output(visit string) *output {
	o := b.open[visit]
	if o == nil {
		o = &output{run: b.report.Runs, visit: visit}
		b.open[visit] = o
		b.opened = append(b.opened, o)
	}
	return o
}

// try returns the conversation at a path.
func (o *output) try(at string) *try {
	for _, t := range o.tries {
		if t.at == at {
			return t
		}
	}
	t := &try{at: at}
	o.tries = append(o.tries, t)
	return t
}

var soundings = patterns.Lazy(`/sounding\[[0-9]+\]`)

// conversation returns the path that an attempt stands below, and reports whether it is
// of soundings, or was asked beside them. All soundings of a visit, or of the whole
// cascade, have the same path.
func conversation(at event.Path) (above string, sounding bool) {
	name, _, _ := event.Numbered(at.Last())
	switch {
	case at.Up() == "": // a phase may be called so
	case name == "evaluator", name == event.Threshold:
		at = at.Up().At("sounding", 0)
	case name == "attempt", name == "mutation":
		at = at.Up()
	}
	if at.Up() != "" && at.Last() == "human_input" {
		at = at.Up()
	}
	above = soundings().ReplaceAllString(string(at), "/sounding")
	return above, above != string(at)
}

// visitOf returns the visit that a conversation is of.
func visitOf(at string) string {
	visit := event.Path(strings.TrimSuffix(at, "/sounding"))
	if name, _, numbered := event.Numbered(visit.Last()); numbered && name == "item" && visit.Up() != "" {
		visit = visit.Up()
	}
	return string(visit)
}

// ofWhole is the visit that soundings of the whole cascade are, and within it are the
// visits of the phases in them.
const (
	ofWhole = cascades.TriesName
	within  = ofWhole + "/sounding/attempt[1]/tool/"
)

// settle adds the calls beside soundings of the whole cascade to the last phase that
// was accepted in them, or else to the last that ended.
func (b *Builder) settle() {
	beside := b.open[ofWhole]
	if beside == nil {
		return
	}
	var last *output
	for _, o := range b.opened {
		if strings.HasPrefix(o.visit, within) && o.over && (last == nil || o.accepted || !last.accepted) {
			last = o
		}
	}
	if last == nil {
		return // a phase is called so
	}
	last.beside = last.beside.plus(beside.beside, 1)
	for _, t := range beside.tries {
		for _, o := range t.attempts {
			last.beside = last.beside.plus(o.price, 1)
		}
	}
	last.shared = last.shared || beside.shared
	b.opened = slices.DeleteFunc(b.opened, func(o *output) bool { return o == beside })
}

// sound adds what soundings cost to the one attempt that they are.
func (t *try) sound(a *journal.Attempt) {
	o := oneOf(a)
	if len(t.attempts) == 0 {
		t.attempts = []one{{gate: o.gate, reason: o.reason, model: o.model}}
	}
	all := &t.attempts[0]
	all.price = all.price.plus(o.price, 1)
	all.accepted = all.accepted || a.Item == "succeeded"
	switch {
	case a.Number == 0 || o.model == "" || t.several:
	case all.model == "":
		all.model = o.model
	case all.model != o.model:
		all.model, t.several = "", true
	}
	switch {
	case all.accepted:
		all.gate, all.reason = "", ""
	case a.Number > 0 && !o.accepted:
		all.gate, all.reason = o.gate, o.reason
	}
}

// oneOf is an attempt as it is counted. Its reason is all that refused it.
func oneOf(a *journal.Attempt) one {
	o := one{
		accepted: a.Outcome == "succeeded", model: a.Model,
		price: Price{
			a.Usage.CostUSD, float64(a.Usage.Calls), a.Took.Seconds(), float64(a.Usage.InputTokens), float64(a.Usage.Cached),
		},
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
	o.gate = cmp.Or(o.gate, a.Outcome, a.Item)
	o.reason = cmp.Or(strings.Join(reasons, "; "), o.gate)
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

// closeRun adds the outputs of the run to their phases. It leaves out those that have
// not ended, and those that cost less than usual because another run has the text.
func (b *Builder) closeRun() {
	b.settle()
	for _, o := range b.opened {
		switch {
		case o.shared:
			b.report.Shared++
			continue
		case !o.over:
			b.report.Unfinished++
			continue
		}
		t := b.phases[o.phase]
		if t == nil {
			t = &tally{gates: map[string]*After{}, reasons: map[[2]string]*After{}}
			b.phases[o.phase] = t
			b.order = append(b.order, o.phase)
		}
		t.outputs = append(t.outputs, o)
	}
}

// Report returns the report of what was added. Released is what is known of the bad
// among the released texts of each phase, in words.
func (b *Builder) Report(released map[string]string) *Report {
	b.closeRun()
	b.open, b.opened = nil, nil
	for _, name := range b.order {
		p := b.phases[name].phase(name)
		p.Released = released[name]
		b.report.Phases = append(b.report.Phases, p)
	}
	return &b.report
}
