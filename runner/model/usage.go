package model

import "math"

// Usage is what was spent. Calls count every request that reached the
// endpoint, failed tries too. The zero value is nothing.
type Usage struct {
	Calls        int     `json:"model_calls"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cached       int     `json:"cached_tokens,omitempty"`      // of the input, what the endpoint had in its cache
	CacheWrite   int     `json:"cache_write_tokens,omitempty"` // of the input, what the endpoint wrote to its cache
	Reasoning    int     `json:"reasoning_tokens,omitempty"`   // of the output, what was thought and not said
	CostUSD      float64 `json:"cost_usd"`
	Estimated    bool    `json:"estimated,omitempty"` // tokens are in it that nobody counted; see [EstimateTokens]
}

// Add gives the sum of two usages. What is below 0, or no number, counts as 0,
// and what is more than there are numbers for is the largest: a sum is never
// less than its parts, so that no budget wraps.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Calls:        sum(u.Calls, v.Calls),
		InputTokens:  sum(u.InputTokens, v.InputTokens),
		OutputTokens: sum(u.OutputTokens, v.OutputTokens),
		Cached:       sum(u.Cached, v.Cached),
		CacheWrite:   sum(u.CacheWrite, v.CacheWrite),
		Reasoning:    sum(u.Reasoning, v.Reasoning),
		CostUSD:      min(amount(u.CostUSD)+amount(v.CostUSD), math.MaxFloat64),
		Estimated:    u.Estimated || v.Estimated,
	}
}

// Less gives what is left of u without v, nothing of it below 0. What was
// estimated stays so.
func (u Usage) Less(v Usage) Usage {
	return Usage{
		Calls:        max(u.Calls-v.Calls, 0),
		InputTokens:  max(u.InputTokens-v.InputTokens, 0),
		OutputTokens: max(u.OutputTokens-v.OutputTokens, 0),
		Cached:       max(u.Cached-v.Cached, 0),
		CacheWrite:   max(u.CacheWrite-v.CacheWrite, 0),
		Reasoning:    max(u.Reasoning-v.Reasoning, 0),
		CostUSD:      max(u.CostUSD-v.CostUSD, 0),
		Estimated:    u.Estimated,
	}
}

// Tokens is input and output tokens together.
func (u Usage) Tokens() int { return sum(u.InputTokens, u.OutputTokens) }

// Counted returns the usage of an answer. An answer that came is at least one call. If
// the model counted no tokens, they are estimated, as for endpoints that do not count.
func Counted(r Request, answer Response) Usage {
	u := Usage{}.Add(answer.Usage) // without what is no number
	u.Calls = max(u.Calls, 1)
	if u.Tokens() > 0 {
		return u
	}
	said := len(answer.Text) + len(answer.Thinking)
	for _, c := range answer.ToolCalls {
		said += len(c.Name) + len(c.Arguments)
	}
	wire, err := r.Wire(Provider{})
	if err != nil { // no message is such
		return u
	}
	u.InputTokens, u.OutputTokens, u.Estimated = EstimateTokens(len(wire)), EstimateTokens(said), true
	return u
}

// EstimateTokens is how many tokens that many bytes of text are where nobody
// counted them: a quarter, rounded up.
func EstimateTokens(bytes int) int { return bytes/4 + min(bytes%4, 1) }

func sum(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// amount is a cost that can be added up.
func amount(usd float64) float64 {
	if !(usd > 0) { // NaN too
		return 0
	}
	return min(usd, math.MaxFloat64)
}
