package cascades

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/keywords"
)

// A TokenBudget limits the estimated tokens of the conversation of a try.
type TokenBudget struct {
	MaxTotal int // with what the model answers
	Reserve  int // the part for the answer
	Strategy string

	at *yaml.Node
}

// text returns the limit and the strategy.
func (b *TokenBudget) text() string { return fmt.Sprintf("%d tokens, else %s", b.Room(), b.Strategy) }

// Room returns the maximum tokens that may be sent.
func (b *TokenBudget) Room() int { return b.MaxTotal - b.Reserve }

// sumsUp reports whether the model of the phase may be asked for a summary.
func (p *Phase) sumsUp() bool {
	return p.TokenBudget != nil && p.TokenBudget.Strategy == keywords.Summarize
}

// tokenBudget reads the token_budget of a phase, or of the file.
func (p *parser) tokenBudget(o *reader.Object) *TokenBudget {
	if o == nil {
		return nil
	}
	b := &TokenBudget{at: o.Node, MaxTotal: o.Whole("max_total", 1, 0), Reserve: o.Whole("reserve_for_output", 0, 0)}
	b.Strategy = o.OneOf("strategy", keywords.Fail, keywords.PruneOldest, keywords.Summarize)
	if o.Needs("max_total"); b.MaxTotal > 0 && b.Room() <= 0 {
		p.Error(o.Value["reserve_for_output"], codes.Value, "reserve_for_output must be less than max_total, which is %d, not %d", b.MaxTotal, b.Reserve)
	}
	o.Done()
	return b
}

// weigh gives each phase with a model the file's token_budget, unless it has its own.
func (p *parser) weigh(file *TokenBudget) {
	for _, phase := range p.cascade.EveryPhase() {
		if phase.Instructions == nil {
			continue
		}
		if phase.TokenBudget == nil {
			phase.TokenBudget = file
		}
		b := phase.TokenBudget
		if b == nil || b.Room() <= 0 {
			continue
		}
		preface, what := phase.prefaceWeight(phase.systemSource()), "the instructions"
		if preface > 0 {
			what = "system, examples and instructions"
		}
		p.facts.Weights = append(p.facts.Weights, checks.Weight{
			Node: b.at, Phase: phase.Name, What: what, Tokens: preface + exchanges.Weigh(phase.Instructions.Source()), Room: b.Room(),
		})
	}
}
