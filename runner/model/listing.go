package model

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

//go:embed tables/prices.yaml
var priceTable []byte

// A PriceTable lists the public prices of models on a day. Providers change prices later.
type PriceTable struct {
	Date   time.Time `yaml:"date"`
	Source string    `yaml:"source"`
	Models []Listing `yaml:"models"`
}

// A Listing is the row of a model in the table of public prices.
type Listing struct {
	Providers []string `yaml:"providers"` // the names of the vendor
	Names     []string `yaml:"names"`     // the spellings of the model
	Price     `yaml:",inline"`
	Context   int `yaml:"context"`    // the maximum of tokens of a request
	MaxOutput int `yaml:"max_output"` // the maximum of tokens of an answer
}

// PublicPrices returns the table of public prices that is part of this package.
func PublicPrices() PriceTable { return publicPrices() }

var publicPrices = sync.OnceValue(func() (t PriceTable) {
	if err := yaml.Unmarshal(priceTable, &t); err != nil { // the tests of this package read the table
		panic(err)
	}
	return t
})

// Price returns the price of a model: the provider's own, or else the public price.
func (p Provider) Price(name string) (Price, bool) {
	if own, ok := p.Prices.find(name); ok {
		return own, true
	}
	l, ok := p.Listing(name)
	return l.Price, ok
}

// Listing returns the row of a model in the table of public prices. A built-in provider
// has the rows of its own models. A provider that passes requests on (openrouter, or one
// of a cascade) has all rows: a name may begin with the vendor, as in openai/gpt-5.
func (p Provider) Listing(name string) (Listing, bool) { return undated(name, p.listing) }

func (p Provider) listing(name string) (Listing, bool) {
	vendor := p.Name
	if prefix, rest, cut := strings.Cut(name, "/"); cut && p.passes() {
		vendor, name = prefix, rest
	}
	var same []Listing
	for _, l := range PublicPrices().Models {
		switch {
		case !slices.Contains(l.Names, name):
		case slices.Contains(l.Providers, vendor):
			return l, true
		case vendor == p.Name:
			same = append(same, l)
		}
	}
	if len(same) != 1 || !p.passes() {
		return Listing{}, false
	}
	return same[0], true
}

// passes reports whether the provider passes requests on to the vendors of models.
func (p Provider) passes() bool {
	_, builtIn := Builtin(p.Name)
	return !builtIn || p.Costs
}

// undated looks a name up, and then the name without the date at its end.
func undated[T any](name string, find func(string) (T, bool)) (T, bool) {
	v, ok := find(name)
	if at := dated().FindStringIndex(name); at != nil && !ok {
		v, ok = find(name[:at[0]])
	}
	return v, ok
}
