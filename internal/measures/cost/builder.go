package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Builder collects attempts and builds the result.
type Builder struct {
	result Result
	run    string
	phases map[string]*tally
	order  []string
	open   map[string]*output // of the present run, by visit
	opened []*output          // in the order of their first attempts
}

// A tally collects the outputs of a phase.
type tally struct {
	outputs []*output
	gates   map[string]*After
	reasons map[[2]string]*After
}

// An output is the result of one visit to a phase: a text, or the list of the items' texts.
type output struct {
	run      int
	visit    string
	phase    string
	tries    []*try
	beside   Price // of pre-wards, sub-cascades, and checks of a person's text
	over     bool
	accepted bool
	shared   bool
}

// A try is the attempts of one conversation.
type try struct {
	at       string // the path above its attempts
	attempts []attempt
	several  bool // soundings with several models
}

// An attempt is one attempt, or all soundings of a visit.
type attempt struct {
	accepted bool
	model    string
	gate     string
	reason   string // with the name of the gate
	price    Price
}

// NewBuilder returns a builder for a cascade.
func NewBuilder(cascade string) *Builder {
	return &Builder{result: Result{CascadeID: cascade, Phases: []*Phase{}}, phases: map[string]*tally{}}
}

// Add adds the next attempt. A visit makes one output, and every call of the visit is part of its
// price: those of all items, pre-wards, sub-cascades, soundings and their evaluator. Soundings
// together are one attempt. The evaluator of soundings of the whole cascade is part of the price of
// their last phase.
func (b *Builder) Add(a *journal.Attempt) {
	if a.RunID != b.run {
		b.closeRun()
		b.run, b.open, b.opened = a.RunID, map[string]*output{}, nil
		b.result.Runs++
	}
	at, sounding := conversation(a.Path)
	o := b.output(visitOf(at))
	o.phase = cmp.Or(o.phase, a.Phase)
	o.shared = o.shared || a.Shared
	o.over = o.over || a.Visit != ""
	o.accepted = o.accepted || a.Visit == "succeeded"
	switch {
	case sounding:
		o.try(at).addSounding(a)
	case a.Number == 0 || a.Edited:
		o.beside = o.beside.plus(newAttempt(a).price, 1)
	default:
		t := o.try(at)
		t.attempts = append(t.attempts, newAttempt(a))
	}
}

// output returns the output of a visit.
func (b *Builder) output(visit string) *output {
	o := b.open[visit]
	if o == nil {
		o = &output{run: b.result.Runs, visit: visit}
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

// conversation returns the path above an attempt, and reports whether the attempt is one of several
// soundings. All soundings of a visit, or of the whole cascade, have the same path.
func conversation(at event.Path) (above string, sounding bool) {
	name, _, _ := event.SplitIndex(at.Last())
	switch {
	case at.Parent() == "": // a phase may have such a name
	case name == "evaluator", name == event.Threshold:
		at = at.Parent().At("sounding", 0)
	case name == "attempt", name == "mutation":
		at = at.Parent()
	}
	if at.Parent() != "" && at.Last() == "human_input" {
		at = at.Parent()
	}
	above = soundings().ReplaceAllString(string(at), "/sounding")
	return above, above != string(at)
}

// visitOf returns the visit of a conversation.
func visitOf(at string) string {
	visit := event.Path(strings.TrimSuffix(at, "/sounding"))
	if name, _, numbered := event.SplitIndex(visit.Last()); numbered && name == "item" && visit.Parent() != "" {
		visit = visit.Parent()
	}
	return string(visit)
}

// The visit of soundings of the whole cascade, and the path of the visits within them.
const (
	wholeVisit = keywords.Tries
	within     = wholeVisit + "/sounding/attempt[1]/tool/"
)

// settle adds the calls of soundings of the whole cascade to the last accepted phase within them.
// Without an accepted phase, it is the last one.
func (b *Builder) settle() {
	beside := b.open[wholeVisit]
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
		return // a phase has this name
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

// addSounding adds the calls of a sounding to the attempt of its visit.
func (t *try) addSounding(a *journal.Attempt) {
	o := newAttempt(a)
	if len(t.attempts) == 0 {
		t.attempts = []attempt{{gate: o.gate, reason: o.reason, model: o.model}}
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

// newAttempt converts an attempt. Its reason contains all rejections.
func newAttempt(a *journal.Attempt) attempt {
	o := attempt{
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
		reasons = append(reasons, v.Validator+": "+withoutNumbers(v.Reason))
	}
	if o.accepted {
		return o
	}
	o.gate = cmp.Or(o.gate, a.Outcome, a.Item)
	o.reason = cmp.Or(strings.Join(reasons, "; "), o.gate)
	return o
}

var numbers = patterns.Lazy(`[0-9]+([.,][0-9]+)*`)

// withoutNumbers removes the numbers of a reason, which may differ each time. Names of long reasons
// stay.
func withoutNumbers(reason string) string {
	if strings.HasPrefix(reason, "#text:") {
		return reason
	}
	return numbers().ReplaceAllString(reason, "#")
}

// closeRun adds the outputs of the run to their phases. It leaves out unfinished outputs, and those
// that share a text with another run.
func (b *Builder) closeRun() {
	b.settle()
	for _, o := range b.opened {
		switch {
		case o.shared:
			b.result.Shared++
			continue
		case !o.over:
			b.result.Unfinished++
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

// Result returns the result of all attempts. released describes the bad released texts of each
// phase.
func (b *Builder) Result(released map[string]string) *Result {
	b.closeRun()
	b.open, b.opened = nil, nil
	for _, name := range b.order {
		p := b.phases[name].phase(name)
		p.Released = released[name]
		b.result.Phases = append(b.result.Phases, p)
	}
	return &b.result
}
