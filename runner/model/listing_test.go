package model_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// Each row of the table is found by each of its names, and not by a longer
// name.
func TestPublicPrices(t *testing.T) {
	table := model.PublicPrices()
	if table.Date.Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) || table.Source == "" {
		t.Errorf("date %s, source %q", table.Date, table.Source)
	}
	seen := map[string]bool{}
	for _, row := range table.Models {
		if row.Input <= 0 || row.Output < row.Input || row.CachedInput() > row.Input || row.Context < 1000 || row.MaxOutput < 1000 || row.MaxOutput > row.Context {
			t.Errorf("%+v", row)
		}
		for _, provider := range row.Providers {
			for _, name := range row.Names {
				if seen[provider+":"+name] {
					t.Errorf("%s:%s has two rows", provider, name)
				}
				seen[provider+":"+name] = true
				p := model.Provider{Name: provider}
				if found, ok := p.Listing(name); !ok || found.Names[0] != row.Names[0] {
					t.Errorf("%s:%s: %+v", provider, name, found)
				}
				if found, ok := p.Listing(name + "-x"); ok {
					t.Errorf("%s:%s-x: %+v", provider, name, found)
				}
			}
		}
	}
}

func TestProviderPrice(t *testing.T) {
	own := model.Prices{"gpt-5": {Input: 7}, "mine": {Input: 8}}
	for _, test := range []struct {
		name   string
		prices model.Prices
		input  float64 // 0 for no price
	}{
		{"openai:gpt-5", nil, 1.25},
		{"openai:gpt-5-2025-08-07", nil, 1.25},
		{"openai:gpt-5-preview", nil, 0},
		{"openai:", nil, 0},
		{"openai:-2025-08-07", nil, 0},
		{"openai:gpt-5", own, 7},
		{"openai:gpt-5-2025-08-07", own, 7},
		{"openai:gpt-4.1", own, 2},
		{"azure:gpt-5", nil, 1.25},
		{"anthropic:claude-sonnet-4-5-20250929", nil, 3},
		{"anthropic:gpt-5", nil, 0},
		{"groq:gpt-5", nil, 0},
		{"ollama:deepseek-chat", nil, 0},
		{"together:deepseek/deepseek-chat", nil, 0},
		{"openrouter:anthropic/claude-sonnet-4.5", nil, 3},
		{"openrouter:google/gemini-2.5-pro", nil, 1.25},
		{"openrouter:openai/claude-sonnet-4.5", nil, 0},
		{"openrouter:deepseek/deepseek-chat:free", nil, 0},
		{"house:gpt-5", nil, 1.25},
		{"house:anthropic/claude-sonnet-4-5", nil, 3},
		{"house:mine", own, 8},
		{"house:yours", own, 0},
	} {
		provider, name, _ := strings.Cut(test.name, ":")
		p, builtIn := model.Builtin(provider)
		if !builtIn {
			p.Name = provider
		}
		p.Prices = test.prices
		if price, ok := p.Price(name); ok != (test.input > 0) || price.Input != test.input {
			t.Errorf("%s: %v, %+v; want %v", test.name, ok, price, test.input)
		}
	}
}

func TestListingLimits(t *testing.T) {
	p, _ := model.Builtin("anthropic")
	if l, ok := p.Listing("claude-opus-4-1-20250805"); !ok || l.Context != 200_000 || l.MaxOutput != 32_000 {
		t.Errorf("%v, %+v", ok, l)
	}
}

func BenchmarkPublicPrice(b *testing.B) {
	p, _ := model.Builtin("openai")
	for b.Loop() {
		if _, ok := p.Price("gpt-5-mini-2025-08-07"); !ok {
			b.Fatal("no price")
		}
	}
}
