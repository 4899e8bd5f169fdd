package cascades

import (
	"time"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/wards"
)

// A Plan is the worst case of a cascade. No count of a run exceeds the count in its plan.
type Plan struct {
	CascadeID string      `json:"cascade_id"`
	Phases    []PhasePlan `json:"phases"` // in file order
	// Total is the maximum over all routes through the phases. Each number has its own
	// maximum. A route with a loop ends after max_phases visits.
	Total Counts `json:"total"`
	// Least contains the minimum tokens of a run that reaches an end. It assumes that no call
	// fails and that no check asks for a retry.
	Least   Tokens     `json:"least"`
	Unknown Unknown    `json:"unknown"` // the reasons why Total and Least are not exact
	Budget  BudgetPlan `json:"budget"`
	// BoundBy names the limits of the budget that reduce Total.
	BoundBy []string `json:"bound_by"`
}

// A PhasePlan is the worst case of one phase.
type PhasePlan struct {
	Name string `json:"name"`
	// Visits is the maximum number of visits. The number is 0 for an unreachable phase and
	// max_phases for a phase in a loop. Otherwise, it is 1.
	Visits int `json:"visits"`
	// Soundings is the number of parallel tries. Without soundings, it is 1.
	Soundings int `json:"soundings"`
	// Attempts is the maximum number of attempts of a try. It is 1, plus 1 for each retry, and
	// at most rules.max_attempts.
	Attempts int `json:"attempts"`
	// Turns is the number of turns of an attempt. It is 0 for a phase without a model.
	Turns int `json:"turns"`
	// Redos is the maximum number of times that turn wards repeat a turn.
	Redos int `json:"redos"`
	// Items is the maximum number of items of a phase with each. Otherwise, it is 0.
	Items int `json:"items,omitempty"`
	// Together lists the phases of a group.
	Together []PhasePlan `json:"together,omitempty"`
	// Visit is the total of one visit. It includes all items, the phases of a group, and
	// nested cascades.
	Visit Counts `json:"visit"`
	// Least contains the minimum tokens of one visit. It contains 0 if a run may skip the
	// phase, or if the phase may have no items.
	Least Tokens `json:"least"`
}

// A BudgetPlan is the budget of a cascade. 0 means no limit.
type BudgetPlan struct {
	MaxCalls   int     `json:"max_calls"`
	MaxTokens  int     `json:"max_tokens"`
	MaxCostUSD float64 `json:"max_cost_usd"`
	MaxSeconds float64 `json:"max_seconds"`
	MaxPhases  int     `json:"max_phases"`
}

// Plan returns the worst case of the cascade after the replacements of chosen. price returns
// the price of a model; see [Cascade.Priced]. If price is nil, no price is known. The running
// time grows with the number of phases and with max_phases.
func (c *Cascade) Plan(chosen Chosen, price func(name string) (model.Price, bool)) Plan {
	if price == nil {
		price = func(string) (model.Price, bool) { return model.Price{}, false }
	}
	unknown := &Unknown{[]string{}, []string{}, []string{}, []string{}}
	plan := planner{plans: map[planned]Plan{}, chosen: chosen, price: price, unknown: unknown}.plan(c)
	plan.Unknown = *unknown
	return plan
}

// A planner plans cascades. It caches the plans of nested cascades.
type planner struct {
	plans       map[planned]Plan
	chosen      Chosen
	price       func(name string) (model.Price, bool)
	unknown     *Unknown
	file        Model  // default model of the cascade
	prefix      string // prefix of messages about a nested cascade
	within      string // cascade_id of the enclosing cascade
	variedTries bool   // later tries of the whole file change the prompts
	depth       int
}

// A planned is the key of a cached plan: a cascade and the default model that determines its
// cost.
type planned struct {
	cascade *Cascade
	file    *Candidate
}

func (m planner) plan(c *Cascade) Plan {
	if m.file = c.Default(m.file); m.depth > 0 && c.ID != m.within { // a try of the whole file is not a nested cascade
		m.prefix = c.ID + ": "
	}
	m.within, m.variedTries = c.ID, m.variedTries || c.Tries.varied()
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
	graph := c.flow()
	for i := range p.Phases {
		p.Phases[i].Visits = visits(graph, i, b.MaxPhases)
		for j := range p.Phases[i].Together {
			p.Phases[i].Together[j].Visits = p.Phases[i].Visits
		}
	}
	total, cut := longest(graph, p.Phases, b.MaxPhases)
	if cut {
		p.BoundBy = append(p.BoundBy, "max_phases")
	}
	p.Least = cheapest(graph, p.Phases)
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

// phase plans one visit of a phase. It includes all phases of a group and all items of a list.
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

// whole plans a phase that runs once.
func (m planner) whole(p *Phase) PhasePlan {
	plan := PhasePlan{Name: p.Name, Soundings: 1, Turns: p.Rules.MaxTurns, Redos: again(p.Wards.Turn)}
	if p.Instructions == nil {
		plan.Turns = 0
	}
	sounded := p.capped(1 + p.shared()) // post-wards only judge the winner
	plan.Attempts = p.capped(sum(1+p.shared(), again(p.Wards.Post)))
	visit := m.checks(p.Wards.Pre, Most).plus(m.checks(p.Wards.Post, m.writes(p)).times(plan.Attempts))
	visit = visit.plus(m.attempt(p, plan).times(plan.Attempts))
	if s := p.Soundings; s != nil {
		plan.Soundings = s.Factor
		visit = visit.plus(m.attempt(p, plan).times(sounded).times(s.most() - 1)).plus(m.around(p, s, plan))
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

// around plans the calls that soundings add to those of their attempts.
func (m planner) around(p *Phase, s *Soundings, plan PhasePlan) (c Counts) {
	if s.Filter != nil {
		texts := s.most()
		if again(p.Wards.Post) > 0 { // post-wards can reject the winner
			texts += plan.Attempts - 1
		}
		c = c.plus(m.check(s.Filter, m.writes(p)).times(texts))
	}
	if s.Mutation == keywords.Rewrite {
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

// edits plans the checks of texts after a person has edited them.
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
	around = m.often(p, Counts{Validators: around.Validators}.plus(withTools(around))) // only for requests of tools
	rounds := m.rounds(p, own)
	turn = turn.plus(around).plus(rounds)
	if p.sumsUp() { // a summary precedes the calls of the turn
		turn = turn.plus(own)
		if rounds != (Counts{}) {
			turn = turn.plus(withTools(own).times(keywords.MaxRounds))
		}
	}
	return one.plus(turn.times(product(plan.Turns, sum(1, plan.Redos))))
}

// withTools returns the counts of the calls with tools.
func withTools(c Counts) Counts {
	return Counts{ModelCallsWithTools: c.ModelCallsWithTools, Tokens: c.Tokens}
}

// rounds plans the additional calls of one turn that tools may cause. own contains the counts
// of the first call of the turn.
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
	return withTools(own).times(keywords.MaxRounds).plus(m.often(p, dearest))
}

// often plans calls of tools without a limit, because a message may contain any number of
// calls.
func (m planner) often(p *Phase, once Counts) Counts {
	if once.ModelCallsWithTools > 0 {
		note(&m.unknown.Calls, m.prefix+p.Name)
	}
	return once.times(Most)
}

// tried plans a cascade that is a tool of the phase. Among the models of the tries, it uses
// the most expensive one.
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

// work plans the tool or the validator of a phase without a model.
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

// checks plans one verdict of each check on a text of at most text tokens.
func (m planner) checks(list []*Check, text int) Counts {
	var c Counts
	for _, one := range list {
		c = c.plus(m.check(one, text))
	}
	return c
}

func (m planner) check(c *Check, text int) Counts { return m.validator(c.Validator, text) }

// validator plans one verdict on a text of at most text tokens.
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

// again returns the maximum number of retries that the checks can cause. Each retrying check
// adds its max_attempts less 1. For example, max_attempts of 3 and 2 allow 3 retries.
func again(list []*Check) int {
	n := 0
	for _, c := range list {
		if c.Ward.Mode == wards.Retry {
			n = sum(n, c.Ward.MaxAttempts-1)
		}
	}
	return n
}

// shared returns the maximum number of retries that output_schema and loop_until can cause.
// They share one budget.
func (p *Phase) shared() int {
	if p.OutputSchema == nil && p.Rules.Loop == nil {
		return 0
	}
	return p.Rules.MaxAttempts - 1
}

// capped limits a number of attempts to rules.max_attempts, if the file sets that limit.
func (p *Phase) capped(attempts int) int {
	if p.Rules.Capped {
		return min(attempts, p.Rules.MaxAttempts)
	}
	return min(attempts, Most)
}
