package openai

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
)

//go:embed prices.yaml
var shippedPrices []byte

var defaultPrices = sync.OnceValues(func() (model.Prices, error) { return ReadPrices(shippedPrices) })

// DefaultPrices are those of some well-known models on the day that the table
// in this package says. They are by name alone: whoever's endpoint answers.
func DefaultPrices() model.Prices {
	p, err := defaultPrices()
	if err != nil { // the table is part of the program, and read by its tests
		panic(err)
	}
	return maps.Clone(p)
}

// ReadPrices reads a table of prices in YAML: name: {input, cached, output}. It
// refuses what it does not know and what is no price.
func ReadPrices(text []byte) (model.Prices, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var p model.Prices
	if err := d.Decode(&p); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("prices: %w", err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("prices: there is a second document behind the first")
	}
	for name, price := range p {
		for _, usd := range []float64{price.Input, price.CachedInput(), price.Output} {
			if !(usd >= 0) || math.IsInf(usd, 1) {
				return nil, fmt.Errorf("prices: %s: %v is no price", name, usd)
			}
		}
	}
	return p, nil
}
