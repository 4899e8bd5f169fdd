package model

import "github.com/seed61713e19/capstan/internal/patterns"

// A Price is the cost of a model's tokens in US dollars per million. Thinking is part of
// the output.
type Price struct {
	Input      float64  `yaml:"input" json:"input"`
	Cached     *float64 `yaml:"cached" json:"cached,omitempty"`           // input read from the cache of the endpoint; nil for the price of Input
	CacheWrite *float64 `yaml:"cache_write" json:"cache_write,omitempty"` // input written to the cache of the endpoint; nil for the price of Input
	Output     float64  `yaml:"output" json:"output"`
}

// Prices are the prices by the name of the model. The price of gpt-5-mini is also the
// price of gpt-5-mini-2025-08-07, unless the table has that name.
type Prices map[string]Price

var dated = patterns.Lazy(`-20\d\d-?\d\d-?\d\d$`)

// find returns the price of a model.
func (p Prices) find(name string) (Price, bool) {
	return undated(name, func(name string) (Price, bool) {
		price, ok := p[name]
		return price, ok
	})
}

// Cost returns the cost of the tokens in dollars. Tokens from the cache and
// tokens for the cache have their own prices.
func (p Price) Cost(u Usage) float64 {
	input := max(u.InputTokens, 0)
	read := min(max(u.Cached, 0), input)
	written := min(max(u.CacheWrite, 0), input-read)
	return (float64(input-read-written)*p.Input + float64(read)*p.CachedInput() + float64(written)*p.WrittenInput() +
		float64(max(u.OutputTokens, 0))*p.Output) / 1e6
}

// CachedInput returns the price of input read from the cache.
func (p Price) CachedInput() float64 { return p.input(p.Cached) }

// WrittenInput returns the price of input written to the cache.
func (p Price) WrittenInput() float64 { return p.input(p.CacheWrite) }

func (p Price) input(own *float64) float64 {
	if own == nil {
		return p.Input
	}
	return *own
}
