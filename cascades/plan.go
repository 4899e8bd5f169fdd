package cascades

import (
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/wards"
)

// A Plan is the worst case that the numbers of a cascade allow (LANGUAGE §4).
// A run never does more of anything that [Counts] are of than its plan says.
type Plan struct {
	CascadeID string      `json:"cascade_id"`
	Phases    []PhasePlan `json:"phases"` // in file order
	// Total is the most that any way through the phases adds up to, each number
	// for itself: ways that go round in circles end with max_phases visits.
	Total Counts `json:"total"`
	// Least is what a run that comes to its end sends and costs at least, on the
	// way with the least, where no call fails and nothing is sent back.
	Least   Tokens     `json:"least"`
	Unknown Unknown    `json:"unknown"` // what Total and Least cannot tell, and why
	Budget  BudgetPlan `json:"budget"`
	// BoundBy names the bounds of the budget without which Total would be more.
	BoundBy []string `json:"bound_by"`
}

// A PhasePlan is the worst case of one phase.
type PhasePlan struct {
	Name string `json:"name"`
	// Visits is how often a run can come by: 0 where no way leads to the phase,
	// 1, or the budget's max_phases where a way leads from the phase back to it.
	Visits int `json:"visits"`
	// Soundings is the number of parallel tries, 1 where there are none.
	Soundings int `json:"soundings"`
	// Attempts is how many attempts one try can have: 1, and one more for each
	// time a check may send the text back, up to a written rules.max_attempts.
	Attempts int `json:"attempts"`
	// Turns is how many turns an attempt has, 0 for a phase without a model.
	Turns int `json:"turns"`
	// Redos is how often turn wards can ask for one turn again.
	Redos int `json:"redos"`
	// Items is how many items a phase with each has at most; 0 without it.
	Items int `json:"items,omitempty"`
	// Together are the phases of a group, each as often as the group is visited.
	Together []PhasePlan `json:"together,omitempty"`
	// Visit is all that one visit does: every item, the phases of a group, and
	// cascades within it included.
	Visit Counts `json:"visit"`
	// Least is what one visit sends and costs at least: 0 where it may be skipped
	// or may have no items.
	Least Tokens `json:"least"`
}

// A BudgetPlan is the cascade's budget; 0 is no bound.
type BudgetPlan struct {
	MaxCalls   int     `json:"max_calls"`
	MaxTokens  int     `json:"max_tokens"`
	MaxCostUSD float64 `json:"max_cost_usd"`
	MaxSeconds float64 `json:"max_seconds"`
	MaxPhases  int     `json:"max_phases"`
}

// MaxRounds is how often a model may ask for tools within one turn.
const MaxRounds = 16

// Plan computes the worst case, in time that grows with the phases and the
// bound on their visits. No model has a price.
func (c *Cascade) Plan() Plan {
	return c.PlanOf("", func(string) (model.Price, bool) { return model.Price{}, false })
}

// PlanOf is [Cascade.Plan] with what is chosen in place of the models that the
// files say, and with what models cost.
func (c *Cascade) PlanOf(chosen Chosen, price Pricing) Plan {
	unknown := &Unknown{[]string{}, []string{}, []string{}, []string{}}
	plan := planner{plans: map[planned]Plan{}, chosen: chosen, price: price, unknown: unknown}.plan(c)
	plan.Unknown = *unknown
	return plan
}

// A planner plans what a cascade does, of which file is the default, and remembers
// the plans of cascades that are named more than once.
type planner struct {
	plans   map[planned]Plan
	chosen  Chosen
	price   Pricing
	unknown *Unknown
	file    Model
	prefix  string // of what is told of a cascade within another
	within  string // the cascade_id of that one
	retold  bool   // models read more before their instructions than these: tries at the whole are asked otherwise
	depth   int
}

// planned is a cascade with the default that it was planned with: what it costs hangs
// on both.
type planned struct {
	cascade *Cascade
	file    *Rung
}

func (m planner) plan(c *Cascade) Plan {
	if m.file = c.Default(m.file); m.depth > 0 && c.ID != m.within { // a try at the whole is no other cascade
		m.prefix = c.ID + ": "
	}
	m.within, m.retold = c.ID, m.retold || c.Tries.varied()
	m.depth++
	key := planned{cascade: c}
	if len(m.file) > 0 {
		key.file = &m.file[0]
	}
	if p, ok := m.plans[key]; ok {
		return p
	}
	b := c.Budget
	p := Plan{
		CascadeID: c.ID, BoundBy: []string{},
		Budget: BudgetPlan{b.MaxCalls, b.MaxTokens, b.MaxCostUSD, b.MaxTime.Round(time.Millisecond).Seconds(), b.MaxPhases},
	}
	for _, phase := range c.Phases {
		p.Phases = append(p.Phases, m.phase(phase))
	}
	routes := newRoutes(c)
	for i := range p.Phases {
		p.Phases[i].Visits = routes.visits(i, b.MaxPhases)
		for j := range p.Phases[i].Together {
			p.Phases[i].Together[j].Visits = p.Phases[i].Visits
		}
	}
	total, cut := routes.longest(p.Phases, b.MaxPhases)
	if cut {
		p.BoundBy = append(p.BoundBy, "max_phases")
	}
	p.Least = routes.cheapest(c, p.Phases)
	if c.Tries != nil {
		total = m.whole(c.Tries).Visit
		p.Least = p.Least.times(c.Tries.Soundings.Factor)
	}
	if b.MaxCalls > 0 && max(total.ModelCalls, total.ModelCallsWithTools) > b.MaxCalls {
		p.BoundBy = append(p.BoundBy, "max_calls")
		total.ModelCalls = min(total.ModelCalls, b.MaxCalls)
		total.ModelCallsWithTools = min(total.ModelCallsWithTools, b.MaxCalls)
		total.JudgeCalls = min(total.JudgeCalls, b.MaxCalls)
	}
	p.Total = total
	m.plans[key] = p
	return p
}

// phase plans one visit: of a group all its phases, of each every item.
func (m planner) phase(p *Phase) PhasePlan {
	if p.Together != nil {
		return m.group(p)
	}
	plan := m.whole(p)
	plan.Least = m.least(p)
	if p.Each != nil {
		plan.Items = p.Each.most()
		plan.Visit = plan.Visit.times(plan.Items)
	}
	return plan
}

func (m planner) group(p *Phase) PhasePlan {
	plan := PhasePlan{Name: p.Name, Soundings: 1, Attempts: 1, Least: m.least(p)}
	for _, one := range p.Together {
		part := m.phase(one)
		plan.Together = append(plan.Together, part)
		plan.Visit = plan.Visit.plus(part.Visit)
	}
	return plan
}

// whole plans a phase that is done once.
func (m planner) whole(p *Phase) PhasePlan {
	plan := PhasePlan{Name: p.Name, Soundings: 1, Turns: p.Rules.MaxTurns, Redos: again(p.Wards.Turn)}
	if p.Instructions == nil {
		plan.Turns = 0
	}
	sounded := p.capped(1 + p.shared()) // post-wards judge the winner alone
	plan.Attempts = p.capped(sum(1+p.shared(), again(p.Wards.Post)))
	visit := m.checks(p.Wards.Pre, Most).plus(m.checks(p.Wards.Post, m.writes(p)).times(plan.Attempts))
	visit = visit.plus(m.attempt(p, plan).times(plan.Attempts))
	if s := p.Soundings; s != nil {
		plan.Soundings = s.Factor
		visit = visit.plus(m.attempt(p, plan).times(sounded).times(s.Tries() - 1)).plus(m.around(p, s, plan))
	}
	if p.Edits() {
		visit = visit.plus(m.edits(p))
	}
	for _, sub := range p.Subs {
		visit = visit.plus(m.plan(sub.Cascade).Total)
	}
	if p.MustChoose() {
		own := m.call(m.own(p), m.sends(p, plan), p.Name)
		visit = visit.plus(own)
		if p.sumsUp() {
			visit = visit.plus(own)
		}
	}
	plan.Visit = visit
	return plan
}

// around plans what is asked of soundings beside their own attempts.
func (m planner) around(p *Phase, s *Soundings, plan PhasePlan) (c Counts) {
	if s.Filter != nil {
		texts := s.Tries()
		if again(p.Wards.Post) > 0 { // of the winner
			texts += plan.Attempts - 1
		}
		c = c.plus(m.check(s.Filter, m.writes(p)).times(texts))
	}
	if s.Mutation == Rewrite {
		c = c.plus(m.call(m.own(p), Most, "mutation of "+p.Name).plus(m.checks(p.Wards.Pre, Most)).times(s.Factor - 1))
	}
	picks := 0
	if s.Factor > 1 && s.Aggregator == nil {
		picks = 1
	}
	if r := s.Reforge; r != nil {
		picks += r.Steps
		if r.Threshold != nil {
			c = c.plus(m.check(r.Threshold, m.writes(p)).times(r.Steps))
		}
	}
	if s.Evaluator != nil {
		c = c.plus(m.call(m.asked(p.Judging()), Most, "evaluator of "+p.Name).times(picks))
	}
	return c
}

// edits plans what judges the texts that a person makes of the phase's.
func (m planner) edits(p *Phase) Counts {
	one := Counts{Attempts: 1}.plus(m.checks(p.Wards.Post, Most))
	if p.OutputSchema != nil {
		one.Validators.Pure++
	}
	if p.Rules.Loop != nil {
		one = one.plus(m.check(p.Rules.Loop, Most))
	}
	if p.Soundings != nil && p.Soundings.Filter != nil {
		one = one.plus(m.check(p.Soundings.Filter, Most))
	}
	return one.times(p.capped(sum(1+p.shared(), again(p.Wards.Post))))
}

// attempt plans one attempt without its post-wards.
func (m planner) attempt(p *Phase, plan PhasePlan) Counts {
	one := Counts{Attempts: 1}
	if p.OutputSchema != nil {
		one.Validators.Pure++
	}
	switch {
	case p.Tool != nil:
		return one.plus(m.work(p))
	case p.Compose != nil:
		return one
	}
	if p.Rules.Loop != nil {
		one = one.plus(m.check(p.Rules.Loop, m.writes(p)).times(plan.Turns))
	}
	own := m.call(m.own(p), m.sends(p, plan), p.Name)
	turn := Counts{Turns: 1}.plus(own).plus(m.checks(p.Wards.Turn, m.writes(p)))
	around := m.checks(p.Wards.Tool, Most).plus(m.checks(p.Wards.Result, Most))
	around = m.often(p, Counts{Validators: around.Validators}.plus(withTools(around))) // only where a tool is asked for
	rounds := m.rounds(p, own)
	turn = turn.plus(around).plus(rounds)
	if p.sumsUp() { // before any of the turn's own calls
		turn = turn.plus(own)
		if rounds != (Counts{}) {
			turn = turn.plus(withTools(own).times(MaxRounds))
		}
	}
	return one.plus(turn.times(product(plan.Turns, sum(1, plan.Redos))))
}

// withTools is what of the counts is told of models that ask for tools alone.
func withTools(c Counts) Counts {
	return Counts{ModelCallsWithTools: c.ModelCallsWithTools, Tokens: c.Tokens}
}

// rounds is what tools can add to one turn, whose first call is own.
func (m planner) rounds(p *Phase, own Counts) Counts {
	if len(p.Tackle) == 0 && !p.Chooses() {
		return Counts{}
	}
	var dearest Counts
	for _, t := range p.Tackle {
		if t.Cascade != nil {
			dearest = dearest.orMore(withTools(m.tried(p, t.Cascade)))
		}
	}
	return withTools(own).times(MaxRounds).plus(m.often(p, dearest))
}

// often is what is done once for each call of a tool: a message may have any number of
// them.
func (m planner) often(p *Phase, once Counts) Counts {
	if once.ModelCallsWithTools > 0 {
		note(&m.unknown.Calls, m.prefix+p.Name)
	}
	return once.times(Most)
}

// tried plans a cascade that is a tool of the phase, for the dearest of the models
// that the phase's tries have.
func (m planner) tried(p *Phase, c *Cascade) Counts {
	if p.Soundings == nil || len(p.Soundings.Models) == 0 {
		return m.plan(c).Total
	}
	var dearest Counts
	for i := range p.Soundings.Models {
		m.file = p.Soundings.Models[i : i+1]
		dearest = dearest.orMore(m.plan(c).Total)
	}
	return dearest
}

// work plans the tool or validator of a phase without a model.
func (m planner) work(p *Phase) Counts {
	switch t := p.Tool; {
	case t.Validator != nil:
		return m.validator(t.Validator, Most)
	case t.Cascade != nil:
		return m.tried(p, t.Cascade)
	default:
		return Counts{}
	}
}

// checks plans one judgement by each, of a text that weighs at most text.
func (m planner) checks(list []*Check, text int) Counts {
	var c Counts
	for _, one := range list {
		c = c.plus(m.check(one, text))
	}
	return c
}

func (m planner) check(c *Check, text int) Counts { return m.validator(c.Validator, text) }

// validator plans one judgement of a text that weighs at most text.
func (m planner) validator(v *Validator, text int) Counts {
	switch {
	case v.Criteria != nil:
		calls := max(v.Votes, 1)
		if v.Confirm {
			calls *= 2
		}
		return m.judge(v, text).times(calls).plus(Counts{Validators: ValidatorCounts{Judge: 1}})
	case v.Cascade != nil:
		return Counts{Validators: ValidatorCounts{Cascade: 1}}.plus(m.plan(v.Cascade).Total)
	case v.Pure:
		return Counts{Validators: ValidatorCounts{Pure: 1}}
	default:
		return Counts{Validators: ValidatorCounts{Exec: 1}}
	}
}

// again is how often the retrying ones among checks can send a text back
// without one of them having used up its budget: of two with max_attempts of 3 and 2
// it is 3 times, where no text is refused by both.
func again(list []*Check) int {
	n := 0
	for _, c := range list {
		if c.Ward.Mode == wards.Retry {
			n = sum(n, c.Ward.MaxAttempts-1)
		}
	}
	return n
}

// shared is how often output_schema and loop_until, which have one budget, can
// send a text back.
func (p *Phase) shared() int {
	if p.OutputSchema == nil && p.Rules.Loop == nil {
		return 0
	}
	return p.Rules.MaxAttempts - 1
}

// capped bounds attempts by a written max_attempts.
func (p *Phase) capped(attempts int) int {
	if p.Rules.Capped {
		return min(attempts, p.Rules.MaxAttempts)
	}
	return min(attempts, Most)
}
