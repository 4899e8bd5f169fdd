package model

import "math"

// A Usage counts calls, tokens and cost. Calls contains all requests that reached the
// endpoint, also failed ones.
type Usage struct {
	Calls        int     `json:"model_calls"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cached       int     `json:"cached_tokens,omitempty"`      // the input tokens read from the cache of the endpoint
	CacheWrite   int     `json:"cache_write_tokens,omitempty"` // the input tokens written to the cache of the endpoint
	Reasoning    int     `json:"reasoning_tokens,omitempty"`   // the output tokens for thinking
	CostUSD      float64 `json:"cost_usd"`
	Estimated    bool    `json:"estimated,omitempty"` // reports whether a token count is an estimate, see [EstimateTokens]
}

// Add returns the sum of two usages. Negative numbers and NaN count as 0. A sum that is
// too large is the largest number, so that budgets do not overflow.
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

// Less returns the difference of two usages. No number is below 0.
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

// Tokens returns the number of input and output tokens.
func (u Usage) Tokens() int { return sum(u.InputTokens, u.OutputTokens) }

// Counted returns the usage of an answer, with at least one call. It estimates the
// tokens if the model reports none.
func Counted(r Request, answer Response) Usage {
	u := Usage{}.Add(answer.Usage) // replaces NaN and negative numbers by 0
	u.Calls = max(u.Calls, 1)
	if u.Tokens() > 0 {
		return u
	}
	output := len(answer.Text) + len(answer.Thinking)
	for _, c := range answer.ToolCalls {
		output += len(c.Name) + len(c.Arguments)
	}
	wire, err := r.Wire(Provider{})
	if err != nil { // messages can always be encoded
		return u
	}
	u.InputTokens, u.OutputTokens, u.Estimated = EstimateTokens(len(wire)), EstimateTokens(output), true
	return u
}

// EstimateTokens returns the estimated number of tokens in a text: a quarter of its
// bytes, rounded up.
func EstimateTokens(bytes int) int { return bytes/4 + min(bytes%4, 1) }

func sum(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// amount returns a cost without NaN and negative values.
func amount(usd float64) float64 {
	if !(usd > 0) { // also NaN
		return 0
	}
	return min(usd, math.MaxFloat64)
}
