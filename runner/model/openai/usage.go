package openai

import (
	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
)

// A tally holds the numbers that an endpoint reports. A number that is missing, or is
// written in another way, is unknown.
type tally struct {
	input, output, total, cached, written, thought known
	cost                                           *float64
}

// A known is a number of tokens, if it is known.
type known struct {
	n  int
	ok bool
}

// names are those that endpoints have for the same number.
func (t *tally) named(name string) *known {
	switch name {
	case "prompt_tokens", "input_tokens":
		return &t.input
	case "completion_tokens", "output_tokens":
		return &t.output
	case "total_tokens":
		return &t.total
	case "cached_tokens", "prompt_cache_hit_tokens":
		return &t.cached
	case "cache_write_tokens":
		return &t.written
	case "reasoning_tokens":
		return &t.thought
	}
	return nil
}

// read takes the numbers of a usage object. Known numbers that are missing there
// stay.
func (t *tally) read(usage jsontree.Value) {
	for name, value := range usage.Members() {
		switch string(name) {
		case "prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details":
			for name, value := range value.Members() {
				if n := string(name); n == "cached_tokens" || n == "cache_write_tokens" || n == "reasoning_tokens" {
					t.named(n).read(value)
				}
			}
		case "cost":
			if usd, ok := number(value); ok {
				t.cost = &usd
			}
		default:
			if k := t.named(string(name)); k != nil {
				k.read(value)
			}
		}
	}
}

func (k *known) read(v jsontree.Value) {
	if n, ok := tokens(v); ok {
		*k = known{n, true}
	}
}

// usage is what the endpoint counted, and an estimate of what it did not.
// Where the total is more than its parts the rest was thought: some doors
// leave it out of what was said.
func (t *try) usage(d draft) model.Usage {
	c := d.tally
	u := model.Usage{InputTokens: c.input.n, OutputTokens: c.output.n}
	if more := c.total.n - u.Tokens(); more > 0 && c.input.n > 0 && c.output.ok {
		u.OutputTokens += more
		c.thought.n = max(c.thought.n, more)
	}
	if u.InputTokens == 0 {
		u.InputTokens, u.Estimated = model.EstimateTokens(int(t.sent)), true
	}
	if said := d.said(); u.OutputTokens == 0 && said > 0 {
		u.OutputTokens, u.Estimated = model.EstimateTokens(said), true
	}
	u.Cached, u.Reasoning = min(c.cached.n, u.InputTokens), min(c.thought.n, u.OutputTokens)
	u.CacheWrite = min(c.written.n, u.InputTokens-u.Cached)
	if price, ok := t.c.provider.Price(t.q.name); ok {
		u.CostUSD = price.Cost(u)
	}
	if c.cost != nil {
		u.CostUSD = min(*c.cost, mostUSD)
	}
	return u
}

// mostUSD is what an answer is believed to cost at most: any budget is spent.
const mostUSD = 1e9

// said is how many bytes the model said.
func (d draft) said() int {
	n := len(d.text) + len(d.refusal)
	for _, c := range d.calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}
