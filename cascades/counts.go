package cascades

import (
	"cmp"
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates"
)

// Counts are upper limits for one run. A limit of 2⁵³ means unbounded.
type Counts struct {
	// Attempts at phases. Each parallel sounding counts separately.
	Attempts int `json:"attempts"`
	// Turns of those attempts, including turns that turn wards repeat.
	Turns int `json:"turns"`
	// ModelCalls are requests to models if no model calls a tool. Turns,
	// verdicts of judges, choices of evaluators, choices of handoffs and
	// summaries for a token_budget count one request each. A repeated request
	// counts once.
	ModelCalls int `json:"model_calls"`
	// ModelCallsWithTools are requests to models if every turn of a phase with
	// tools uses all its rounds. A message may contain any number of tool calls.
	// If a tool itself calls a model, only a budget limits the number. Attempts,
	// turns and verdicts of cascades that are tools do not count.
	ModelCallsWithTools int `json:"model_calls_with_tools"`
	// JudgeCalls are the ModelCalls of judges.
	JudgeCalls int `json:"judge_calls"`
	// Validators are verdicts by the kind of validator. The number of verdicts
	// on calls of tools is unbounded.
	Validators ValidatorCounts `json:"validators"`
	// Tokens are the tokens of ModelCallsWithTools.
	Tokens Tokens `json:"tokens"`
}

// ValidatorCounts are verdicts by kind of validator. A repeated verdict counts
// once.
type ValidatorCounts struct {
	Pure    int `json:"pure"`    // computed from the text, output_schema included
	Exec    int `json:"exec"`    // programs and other validators with I/O
	Judge   int `json:"judge"`   // models
	Cascade int `json:"cascade"` // cascades; their own verdicts count too
}

// Most means an unbounded count.
const Most = 1 << 53

// all returns counts that are all n.
func all(n int) Counts {
	return Counts{n, n, n, n, n, ValidatorCounts{n, n, n, n}, Tokens{n, n, n}}
}

func (c Counts) each(d Counts, op func(a, b int) int) Counts {
	v, w := c.Validators, d.Validators
	return Counts{
		op(c.Attempts, d.Attempts), op(c.Turns, d.Turns),
		op(c.ModelCalls, d.ModelCalls), op(c.ModelCallsWithTools, d.ModelCallsWithTools), op(c.JudgeCalls, d.JudgeCalls),
		ValidatorCounts{op(v.Pure, w.Pure), op(v.Exec, w.Exec), op(v.Judge, w.Judge), op(v.Cascade, w.Cascade)},
		c.Tokens.each(d.Tokens, op),
	}
}

func (c Counts) plus(d Counts) Counts   { return c.each(d, sum) }
func (c Counts) times(n int) Counts     { return c.each(all(n), product) }
func (c Counts) orMore(d Counts) Counts { return c.each(d, func(a, b int) int { return max(a, b) }) }

func sum(a, b int) int { return min(min(a, Most)+min(b, Most), Most) }

func product(a, b int) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high > 0 {
		return Most
	}
	return int(min(low, Most))
}

// Tokens are the estimated tokens and cost of model calls. The estimate uses no
// tokenizer. An unbounded value or an unknown cost is 2⁵³, and null in JSON.
type Tokens struct {
	Input  int // of the requests
	Output int // of the answers
	Nano   int // US dollars, in thousand-millionths
}

// MarshalJSON writes {"input", "output", "cost_usd", "estimated": true}.
func (t Tokens) MarshalJSON() ([]byte, error) {
	known := func(n int, unit float64) any {
		if n >= Most {
			return nil
		}
		return float64(n) / unit
	}
	return json.Marshal(struct {
		Input     any  `json:"input"`
		Output    any  `json:"output"`
		Cost      any  `json:"cost_usd"`
		Estimated bool `json:"estimated"`
	}{known(t.Input, 1), known(t.Output, 1), known(t.Nano, 1e9), true})
}

func (t Tokens) each(u Tokens, op func(a, b int) int) Tokens {
	return Tokens{op(t.Input, u.Input), op(t.Output, u.Output), op(t.Nano, u.Nano)}
}

func (t Tokens) plus(u Tokens) Tokens { return t.each(u, sum) }
func (t Tokens) times(n int) Tokens   { return t.each(Tokens{n, n, n}, product) }

// Unknown lists the reasons for the unbounded values of a [Plan].
type Unknown struct {
	Calls  []string `json:"calls"`  // phases that call a model or a cascade without a limit
	Input  []string `json:"input"`  // calls without a limit of input tokens
	Output []string `json:"output"` // calls without a limit of output tokens
	Price  []string `json:"price"`  // models without a known price
}

// Priced returns a function for the price of a model, by its name in the cascade. The
// prices of the providers in the cascade and in nested cascades replace public prices.
func (c *Cascade) Priced() func(name string) (model.Price, bool) {
	own := c.EveryProvider()
	return func(name string) (model.Price, bool) {
		provider, bare := providerOf(own, name)
		return provider.Price(bare)
	}
}

// call returns one request with input tokens to the most expensive model of asked. If the
// request or the answer has no limit, call reports it as unknown under the name who.
func (m planner) call(asked Model, input int, who string) Counts {
	if input >= Most {
		note(&m.unknown.Input, m.prefix+who)
	}
	t := Tokens{Input: input}
	var dear model.Price
	priced := true
	for _, r := range asked {
		t.Output = max(t.Output, r.answers())
		price, known := m.priced(r)
		priced = priced && known
		dear.Input, dear.Output = max(dear.Input, price.Input, price.WrittenInput()), max(dear.Output, price.Output)
	}
	if t.Output >= Most {
		note(&m.unknown.Output, m.prefix+who)
	}
	t.Nano = Most
	if priced {
		t.Nano = sum(nano(t.Input, dear.Input), nano(t.Output, dear.Output))
	}
	return Counts{ModelCalls: 1, ModelCallsWithTools: 1, Tokens: t}
}

func (m planner) priced(r Candidate) (model.Price, bool) {
	price, known := m.price(r.Name)
	if !known {
		note(&m.unknown.Price, cmp.Or(r.Name, "(the run's)"))
	}
	return price, known
}

// nano returns the cost of tokens at a price in dollars per million, in
// thousand-millionths of a dollar, rounded up.
func nano(tokens int, price float64) int {
	if tokens >= Most && price > 0 {
		return Most
	}
	return int(min(math.Ceil(float64(tokens)*price*1000), Most))
}

// answers returns the maximum tokens of an answer. If extra has a limit, the maximum is
// unbounded, because only the endpoint knows the effect of that limit.
func (r Candidate) answers() int {
	a := r.Params
	if a == nil || a.MaxOutputTokens == 0 || a.Extra.Has("max_tokens") || a.Extra.Has("max_completion_tokens") {
		return Most
	}
	return a.MaxOutputTokens
}

// asked returns the models that may answer a call to the named model. The list is
// never empty, but the model of the run may have no name.
func (m planner) asked(named Model) Model {
	if found := m.chosen.Of(named, m.file); len(found) > 0 {
		return found
	}
	return Model{{}}
}

// own returns the models that may answer in the conversation of the phase. They
// include the models of its soundings and of the aggregator.
func (m planner) own(p *Phase) Model {
	s := p.Soundings
	if s == nil {
		return m.asked(p.Model)
	}
	own := m.asked(p.Model)
	if len(s.Models) > 0 {
		own = m.asked(s.Models)
	}
	if s.Aggregator != nil {
		own = slices.Concat(own, m.asked(p.Judging()))
	}
	return own
}

// writes returns the maximum tokens of one answer of the phase.
func (m planner) writes(p *Phase) (tokens int) {
	if p.Instructions == nil {
		return Most
	}
	for _, r := range m.own(p) {
		tokens = max(tokens, r.answers())
	}
	return tokens
}

// sends returns the maximum tokens of one call of the phase. The limit is the room of its
// token_budget, or the size of its prompt if the visit makes one call with a fixed prompt.
func (m planner) sends(p *Phase, plan PhasePlan) int {
	tokens := Most
	once := plan.Attempts == 1 && plan.Turns == 1 && plan.Redos == 0 && len(p.Tackle) == 0 && !p.Chooses()
	bare := len(p.Context.From) == 0 && !p.Context.Input && p.Rules.Loop == nil && p.Soundings == nil
	if once && bare && !m.variedTries && fixed(p.Instructions) && (p.System == nil || fixed(p.System)) {
		var schema json.RawMessage
		if p.OutputSchema != nil {
			schema, _ = p.OutputSchema.MarshalJSON() // a parsed schema always encodes
		}
		tokens = aroundAll + p.prefaceWeight(p.systemSource()) + exchanges.Weigh(p.Instructions.Source()) + exchanges.Overhead(nil, schema)
	}
	if p.TokenBudget != nil {
		tokens = min(tokens, p.TokenBudget.Room())
	}
	return tokens
}

const (
	aroundAll   = 16  // the overhead of a conversation with one message
	aroundJudge = 800 // the overhead of a judge's request without criteria and text, plus the size of its verdict
)

func fixed(t *templates.Template) bool {
	return !strings.Contains(t.Source(), "{{") && !strings.Contains(t.Source(), "{%")
}

// judge returns one request to a judge for a text of at most text tokens.
func (m planner) judge(v *Validator, text int) Counts {
	input := Most
	if fixed(v.Criteria) {
		input = sum(text, aroundJudge+exchanges.Weigh(v.Criteria.Source()))
	}
	counts := m.call(m.asked(v.Model), input, "judge "+v.Name)
	counts.JudgeCalls = 1
	return counts
}

// least returns the minimum tokens of one visit of the phase: the fixed text of its prompt
// in each turn. Judges, rendered values and answers do not count.
func (m planner) least(p *Phase) (t Tokens) {
	switch {
	case p.When != nil, p.Each != nil:
		return Tokens{}
	case p.Together != nil:
		for _, member := range p.Together {
			t = t.plus(m.least(member))
		}
		return t
	case p.Tool != nil && p.Tool.Cascade != nil:
		return m.plan(p.Tool.Cascade).Least
	case p.Instructions == nil:
		return Tokens{}
	}
	t.Input = p.prefaceWeight(always(p.systemSource())) + exchanges.Weigh(always(p.Instructions.Source()))
	t.Nano = Most
	for _, r := range m.own(p) {
		price, known := m.priced(r)
		if !known {
			t.Nano = Most
			break
		}
		t.Nano = min(t.Nano, nano(t.Input, min(price.Input, price.CachedInput())))
	}
	if p.Rules.Loop == nil {
		t = t.times(p.Rules.MaxTurns)
	}
	if s := p.Soundings; s != nil && s.Mutation != keywords.Rewrite {
		t = t.times(s.Factor)
	}
	return t
}

var inserted = patterns.Lazy(`(?s)\{\{.*?\}\}|\{#.*?#\}`)

// always returns the text that a template always renders: the text outside of values,
// without the part from the first block to the last block.
func always(source string) string {
	source = inserted().ReplaceAllString(source, " ")
	if begin := strings.Index(source, "{%"); begin >= 0 {
		source = source[:begin] + source[strings.LastIndex(source, "%}")+2:]
	}
	return source
}
