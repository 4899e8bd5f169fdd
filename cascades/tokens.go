package cascades

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// Tokens are what calls of models weigh and cost. All of it is estimated: no
// tokenizer is asked. Where there is no bound it is 2⁵³, as of [Counts], which is
// null in JSON; so is the cost where no price is known.
type Tokens struct {
	Input  int // what is sent
	Output int // what is answered
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

// Unknown says what keeps a [Plan] from telling calls, tokens and money: who calls
// what asks a model as often as it likes, who is asked without a bound of what is
// sent or answered, and which models have no price that is known.
type Unknown struct {
	Calls  []string `json:"calls"`
	Input  []string `json:"input"`
	Output []string `json:"output"`
	Price  []string `json:"price"`
}

// note adds what a list does not have.
func note[T comparable](list *[]T, one T) {
	if !slices.Contains(*list, one) {
		*list = append(*list, one)
	}
}

// A Pricing tells what a model costs, by its name as a cascade writes it.
type Pricing func(name string) (model.Price, bool)

// Priced returns the pricing of the cascade's calls: the prices of its providers, of
// nested cascades too, or else the public prices.
func (c *Cascade) Priced() Pricing {
	own := c.EveryProvider()
	return func(name string) (model.Price, bool) {
		provider, bare := providerOf(own, name)
		return provider.Price(bare)
	}
}

// call is one request to the dearest of the models that may be asked, with input
// tokens sent at most. Who is told of where that has no bound.
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

func (m planner) priced(r Rung) (model.Price, bool) {
	price, known := m.price(r.Name)
	if !known {
		note(&m.unknown.Price, cmp.Or(r.Name, "(the run's)"))
	}
	return price, known
}

// nano is what tokens cost at dollars for a million, in thousand-millionths of a
// dollar, rounded up.
func nano(tokens int, price float64) int {
	if tokens >= Most && price > 0 {
		return Most
	}
	return int(min(math.Ceil(float64(tokens)*price*1000), Most))
}

// answers is how many tokens the model may answer. A limit that extra has is the
// endpoint's to read.
func (r Rung) answers() int {
	a := r.Params
	if a == nil || a.MaxOutputTokens == 0 || a.Extra.Has("max_tokens") || a.Extra.Has("max_completion_tokens") {
		return Most
	}
	return a.MaxOutputTokens
}

// asked are the models that may answer where one, or none, is named: never none,
// but that of a run may have no name.
func (m planner) asked(named Model) Model {
	if found := m.chosen.Of(named, m.file); len(found) > 0 {
		return found
	}
	return Model{{}}
}

// own are the models that may answer in the phase's own conversation: those of its
// tries too, and of the one that puts them together.
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

// writes is what one answer of the phase weighs at most.
func (m planner) writes(p *Phase) (tokens int) {
	if p.Instructions == nil {
		return Most
	}
	for _, r := range m.own(p) {
		tokens = max(tokens, r.answers())
	}
	return tokens
}

// sends is what one call of the phase's conversation weighs at most: what its
// token_budget has room for, or its instructions, where they are the same in each
// run and all that is said. What values, tools and checks bring weighs what it
// weighs.
func (m planner) sends(p *Phase, plan PhasePlan) int {
	tokens := Most
	once := plan.Attempts == 1 && plan.Turns == 1 && plan.Redos == 0 && len(p.Tackle) == 0 && !p.Chooses()
	bare := len(p.Context.From) == 0 && !p.Context.Input && p.Rules.Loop == nil && p.Soundings == nil
	if once && bare && !m.retold && fixed(p.Instructions) {
		var schema json.RawMessage
		if p.OutputSchema != nil {
			schema, _ = p.OutputSchema.MarshalJSON() // it was read from a file
		}
		tokens = aroundAll + exchanges.Weigh(p.Instructions.Source()) + exchanges.Around(nil, schema)
	}
	if p.TokenBudget != nil {
		tokens = min(tokens, p.TokenBudget.Room())
	}
	return tokens
}

const (
	aroundAll   = 16  // what surrounds a conversation of one message
	aroundJudge = 800 // what a judge is told beside its criteria and the text, and the form of its verdict
)

func fixed(t *templates.Template) bool {
	return !strings.Contains(t.Source(), "{{") && !strings.Contains(t.Source(), "{%")
}

// judge is one request to a judge of a text that weighs at most text.
func (m planner) judge(v *Validator, text int) Counts {
	input := Most
	if fixed(v.Criteria) {
		input = sum(text, aroundJudge+exchanges.Weigh(v.Criteria.Source()))
	}
	one := m.call(m.asked(v.Model), input, "judge "+v.Name)
	one.JudgeCalls = 1
	return one
}

// least is what one visit of the phase sends where nothing fails and nothing is
// sent back: its instructions, in each of its turns. What judges are asked, and
// what values bring, is not in it, nor is an answer.
func (m planner) least(p *Phase) (t Tokens) {
	switch {
	case p.When != nil, p.Each != nil:
		return Tokens{}
	case p.Together != nil:
		for _, one := range p.Together {
			t = t.plus(m.least(one))
		}
		return t
	case p.Tool != nil && p.Tool.Cascade != nil:
		return m.plan(p.Tool.Cascade).Least
	case p.Instructions == nil:
		return Tokens{}
	}
	t.Input = exchanges.Weigh(always(p.Instructions.Source()))
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
	if s := p.Soundings; s != nil && s.Mutation != Rewrite {
		t = t.times(s.Factor)
	}
	return t
}

var inserted = patterns.Lazy(`(?s)\{\{.*?\}\}|\{#.*?#\}`)

// always is the text of a template that stands in all that is made of it: outside
// of values, and before and behind its blocks.
func always(source string) string {
	source = inserted().ReplaceAllString(source, " ")
	if begin := strings.Index(source, "{%"); begin >= 0 {
		source = source[:begin] + source[strings.LastIndex(source, "%}")+2:]
	}
	return source
}

// cheapest is the least that a way from the first phase to an end adds up to, each
// number for itself.
func (r *routes) cheapest(c *Cascade, phases []PhasePlan) Tokens {
	none := Tokens{Most, Most, Most}
	to := make([]Tokens, len(phases))
	for i := range to {
		to[i] = none
	}
	lower := func(a, b int) int { return min(a, b) }
	total, further := none, []int{}
	if len(phases) > 0 {
		to[0], further = phases[0].Least, []int{0}
	}
	for len(further) > 0 {
		v := further[0]
		further = further[1:]
		if c.mayEnd(v) {
			total = total.each(to[v], lower)
		}
		for _, w := range r.next[v] {
			if t := to[w].each(to[v].plus(phases[w].Least), lower); t != to[w] {
				to[w] = t
				further = append(further, w)
			}
		}
	}
	if total == none { // no way ends
		return Tokens{}
	}
	return total
}
