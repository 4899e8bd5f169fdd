package openai

import (
	"math"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

var _ model.Pricer = (*Client)(nil)

func TestPrices(t *testing.T) {
	mine, err := ReadPrices([]byte("mine: {input: 10, output: 20}\ngpt-5: {input: 1, cached: 0, output: 2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{Prices: mine})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"mine": true, "gpt-5": true, "gpt-5-mini": true, "gpt-5-mini-2025-08-07": true,
		"yours": false, "gpt-5-mini-preview": false, "": false, "-2025-08-07": false,
	} {
		if c.Priced(name) != want {
			t.Errorf("%s is priced: %t", name, !want)
		}
	}
	for _, test := range []struct {
		name                  string
		input, cached, output int
		usd                   float64
	}{
		{"mine", 1_000_000, 500_000, 1_000_000, 30},
		{"gpt-5", 1_000_000, 500_000, 0, 0.5},
		{"gpt-5", 10, 1_000_000, 0, 0},
		{"gpt-4o", 1_000_000, -5, 0, 2.5},
	} {
		price, _ := c.prices.Of(test.name)
		if usd := price.Cost(model.Usage{InputTokens: test.input, Cached: test.cached, OutputTokens: test.output}); math.Abs(usd-test.usd) > 1e-9 {
			t.Errorf("%+v: got %v", test, usd)
		}
	}
}

func TestPricesThatAreNone(t *testing.T) {
	for _, text := range []string{"a: {input: -1}", "a: {input: .nan}", "a: {output: .inf}", "a: {cached: -1}", "a: {in: 1}", "- a", "a: [", "a: {input: 1}\n---\na: {input: 2}\n"} {
		if p, err := ReadPrices([]byte(text)); err == nil {
			t.Errorf("%s: read as %v", text, p)
		}
	}
	if p, err := ReadPrices(nil); err != nil || len(p) != 0 {
		t.Errorf("nothing: %v, %v", p, err)
	}
}

// The shipped table must be whole: nobody else looks at it.
func TestDefaultPrices(t *testing.T) {
	for name, p := range DefaultPrices() {
		if p.Input <= 0 || p.Output < p.Input || p.Cached == nil || *p.Cached >= p.Input {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
