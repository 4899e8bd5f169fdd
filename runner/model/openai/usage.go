package openai

import (
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// usage returns the reported usage, and estimates missing counts. If the total
// exceeds the sum of
// its parts, the rest is thinking, because some endpoints do not count it as
// output.
func (t *try) usage(d protocol.Draft) model.Usage {
	c := d.Usage
	u := model.Usage{InputTokens: c.Input.N, OutputTokens: c.Output.N}
	if more := c.Total.N - u.Tokens(); more > 0 && c.Input.N > 0 && c.Output.Known {
		u.OutputTokens += more
		c.Reasoning.N = max(c.Reasoning.N, more)
	}
	if u.InputTokens == 0 {
		u.InputTokens, u.Estimated = model.EstimateTokens(int(t.sent)), true
	}
	if bytes := length(d); u.OutputTokens == 0 && bytes > 0 {
		u.OutputTokens, u.Estimated = model.EstimateTokens(bytes), true
	}
	u.Cached, u.Reasoning = min(c.Cached.N, u.InputTokens), min(c.Reasoning.N, u.OutputTokens)
	u.CacheWrite = min(c.CacheWrite.N, u.InputTokens-u.Cached)
	if price, ok := t.c.provider.Price(t.q.r.Model); ok {
		u.CostUSD = price.Cost(u)
	}
	if c.Cost != nil {
		u.CostUSD = min(*c.Cost, mostUSD)
	}
	return u
}

// mostUSD is the maximum cost of an answer. It exceeds every budget.
const mostUSD = 1e9

// length returns the size of the model's output in bytes.
func length(d protocol.Draft) int {
	n := len(d.Text) + len(d.Refusal) + len(d.Thinking)
	for _, c := range d.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}
