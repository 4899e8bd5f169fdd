package cascades

import (
	"slices"

	"github.com/seed61713e19/capstan/validators/expressions"
)

// A Handoff is a phase that may follow.
type Handoff struct {
	Target      string
	Description string
	When        *expressions.Expression // decides without a model; nil for none
	Ends        bool                    // it ends the run: Target is "end"
}

// Chooses tells whether the model picks where the phase goes.
func (p *Phase) Chooses() bool {
	plain := 0
	for _, h := range p.Handoffs {
		if h.When != nil {
			continue
		}
		if h.Description != "" {
			return true
		}
		plain++
	}
	return plain > 1
}

// What handoff_default says of a choice that the model does not make.
const (
	ChooseFail  = "fail"
	ChooseFirst = "first"
)

// Unasked gives the handoff that is followed where the model chooses none, and is
// not asked for a choice either: the only one, or the one that is plain. Where
// handoff_default is written, that says what comes of no choice. A phase without a
// model goes the first plain way.
func (p *Phase) Unasked() (target string, there bool) {
	var open, plain []string // without a condition; of these those without a description
	for _, h := range p.Handoffs {
		if h.When == nil {
			open = append(open, h.Target)
		}
		if h.When == nil && h.Description == "" {
			plain = append(plain, h.Target)
		}
	}
	switch {
	case len(plain) > 0 && p.Instructions == nil, len(plain) == 1 && p.Unchosen == "":
		return plain[0], true
	case len(open) == 1 && len(p.Handoffs) == 1 && (p.Instructions == nil || p.Unchosen != ChooseFail):
		return open[0], true
	}
	return "", false
}

// MustChoose tells whether the model is asked where to go in a call of its own,
// should it not have said so before, and no condition decides.
func (p *Phase) MustChoose() bool {
	_, there := p.Unasked()
	return p.Instructions != nil && p.Chooses() && !there
}

// undecided tells whether a phase without a model has handoffs that are for a model
// to choose among, and nothing else that could decide.
func (p *Phase) undecided() bool {
	_, there := p.Unasked()
	alone := p.Tool != nil || p.Compose != nil || p.Together != nil
	return alone && p.Chooses() && !there && !p.Conditional() && p.Unchosen != ChooseFirst
}

// Conditional tells whether a handoff of the phase has a condition.
func (p *Phase) Conditional() bool {
	return slices.ContainsFunc(p.Handoffs, func(h Handoff) bool { return h.When != nil })
}
