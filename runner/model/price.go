package model

import (
	"maps"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Price is what a model's tokens cost, in US dollars per million.
type Price struct {
	Input  float64  `yaml:"input" json:"input"`
	Cached *float64 `yaml:"cached" json:"cached,omitempty"` // of input that the endpoint had in its cache; nil means as Input
	Output float64  `yaml:"output" json:"output"`
}

// Prices are by model, as the endpoint names it. A name that ends in a date,
// as gpt-5-mini-2025-08-07, has the price of the name without it unless it has
// its own.
type Prices map[string]Price

// With is a copy with more prices, which win.
func (p Prices) With(more Prices) Prices {
	all := Prices{}
	maps.Copy(all, p)
	maps.Copy(all, more)
	return all
}

var dated = patterns.Lazy(`-20\d\d-?\d\d-?\d\d$`)

// Of is the price of a model, if there is one.
func (p Prices) Of(name string) (Price, bool) {
	price, ok := p[name]
	if !ok {
		if at := dated().FindStringIndex(name); at != nil {
			price, ok = p[name[:at[0]]]
		}
	}
	return price, ok
}

// Cost is what a usage's tokens cost in dollars.
func (p Price) Cost(u Usage) float64 {
	cached := min(max(u.Cached, 0), u.InputTokens)
	return (float64(u.InputTokens-cached)*p.Input + float64(cached)*p.CachedInput() + float64(u.OutputTokens)*p.Output) / 1e6
}

// CachedInput is what input from a cache costs.
func (p Price) CachedInput() float64 {
	if p.Cached == nil {
		return p.Input
	}
	return *p.Cached
}
