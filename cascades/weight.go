package cascades

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/exchanges"
)

// A TokenBudget says what the conversation of a try at a phase may weigh, in
// tokens, which are estimated.
type TokenBudget struct {
	MaxTotal int // with what the model answers
	Reserve  int // of it, for the answer
	Strategy string

	at *yaml.Node
}

// What becomes of a conversation that weighs more: the run ends, its oldest
// exchanges leave, or a text takes their place that the model has made of them.
const (
	Fail        = "fail"
	PruneOldest = "prune_oldest"
	Summarize   = "summarize"
)

// String says what may be sent, and what becomes of more.
func (b *TokenBudget) String() string { return fmt.Sprintf("%d tokens, else %s", b.Room(), b.Strategy) }

// Room is what may be sent.
func (b *TokenBudget) Room() int { return b.MaxTotal - b.Reserve }

// sumsUp tells whether the phase's model may be asked to sum up.
func (p *Phase) sumsUp() bool { return p.TokenBudget != nil && p.TokenBudget.Strategy == Summarize }

// tokenBudget reads the token_budget of a phase, or of the file.
func (p *parser) tokenBudget(o *object) *TokenBudget {
	if o == nil {
		return nil
	}
	b := &TokenBudget{at: o.node, MaxTotal: o.whole("max_total", 1, 0), Reserve: o.whole("reserve_for_output", 0, 0)}
	b.Strategy = o.oneOf("strategy", Fail, PruneOldest, Summarize)
	if o.needs("max_total"); b.MaxTotal > 0 && b.Room() <= 0 {
		p.report(o.value["reserve_for_output"], CodeValue, "reserve_for_output must be less than max_total, which is %d, not %d", b.MaxTotal, b.Reserve)
	}
	o.done()
	return b
}

// weigh gives the phases with a model that have no token_budget the file's, and
// warns where the instructions, as they stand, leave no room.
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
		if weight := preface + exchanges.Weigh(phase.Instructions.Source()); weight > b.Room() {
			p.warn(b.at, CodeTooHeavy, "token_budget: %s of phase %s, as they stand, weigh about %d tokens (estimated), and %d may be sent",
				what, phase.Name, weight, b.Room())
		}
	}
}
