package openai

import (
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// usage is what the endpoint counted, and an estimate of what it did not.
// Where the total is more than its parts the rest was thought: some doors
// leave it out of what was said.
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

// mostUSD is what an answer is believed to cost at most: any budget is spent.
const mostUSD = 1e9

// length returns the number of bytes that the model wrote.
func length(d protocol.Draft) int {
	n := len(d.Text) + len(d.Refusal) + len(d.Thinking)
	for _, c := range d.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}
