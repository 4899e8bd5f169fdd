package openai

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"sync"

	"gopkg.in/yaml.v3"
)

// A Price is what a model's tokens cost, in US dollars per million.
type Price struct {
	Input       float64  `yaml:"input"`
	CachedInput *float64 `yaml:"cached_input"` // of input that the endpoint had in its cache; nil means as Input
	Output      float64  `yaml:"output"`
}

// Prices are by model, as the endpoint names it. A name that ends in a date,
// as gpt-5-mini-2025-08-07, has the price of the name without it unless it has
// its own.
type Prices map[string]Price

//go:embed prices.yaml
var shippedPrices []byte

var defaultPrices = sync.OnceValues(func() (Prices, error) { return ReadPrices(shippedPrices) })

// DefaultPrices are those of some well-known models on the day that the table
// in this package says. They are by name alone: whoever's endpoint answers.
func DefaultPrices() Prices {
	p, err := defaultPrices()
	if err != nil { // the table is part of the program, and read by its tests
		panic(err)
	}
	return maps.Clone(p)
}

// ReadPrices reads a table of prices in YAML: name: {input, cached_input,
// output}. It refuses what it does not know and what is no price.
func ReadPrices(text []byte) (Prices, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var p Prices
	if err := d.Decode(&p); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("prices: %w", err)
	}
	for name, price := range p {
		for _, usd := range []float64{price.Input, price.cached(), price.Output} {
			if !(usd >= 0) || math.IsInf(usd, 1) {
				return nil, fmt.Errorf("prices: %s: %v is no price", name, usd)
			}
		}
	}
	return p, nil
}

// With is a copy with more prices, which win.
func (p Prices) With(more Prices) Prices {
	all := maps.Clone(p)
	maps.Copy(all, more)
	return all
}

var dated = regexp.MustCompile(`-20\d\d-?\d\d-?\d\d$`)

func (p Prices) find(name string) (Price, bool) {
	price, ok := p[name]
	if !ok {
		if at := dated.FindStringIndex(name); at != nil {
			price, ok = p[name[:at[0]]]
		}
	}
	return price, ok
}

func (p Price) cached() float64 {
	if p.CachedInput == nil {
		return p.Input
	}
	return *p.CachedInput
}

// cost is what tokens cost in dollars; cached is the part of input that came
// from a cache.
func (p Price) cost(input, cached, output int) float64 {
	cached = min(max(cached, 0), input)
	return (float64(input-cached)*p.Input + float64(cached)*p.cached() + float64(output)*p.Output) / 1e6
}
