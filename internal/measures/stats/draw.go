package stats

import (
	"fmt"
	"math"
)

// A Draw is how a text came to be labelled.
type Draw struct {
	Order       string  `json:"order" jsonschema:"random, disagreement, or chosen, which no rate uses"`
	Probability float64 `json:"probability,omitempty" jsonschema:"of disagreement: the chance that this draw took a text of its group, the texts on which gates disagree or the others"`
	Share       float64 `json:"share,omitempty" jsonschema:"of disagreement: the share of its group among all texts"`
}

// The orders in which texts are labelled.
const (
	Random       = "random"       // each text is as likely as any other
	Disagreement = "disagreement" // texts on which gates disagree are likelier
	Chosen       = "chosen"       // somebody picked the text, or nobody knows how it was drawn
)

// Weight returns how much the text counts in a rate, at most 1: a random draw counts
// 1. A draw that favoured a group counts by the group's share over its chance, in
// units of the larger such quotient of the two groups. The weight is 0 if no rate may
// use the text: it was chosen, or its group was the only one left.
func (d Draw) Weight() float64 {
	switch p, q := d.Probability, 1-d.Probability; {
	case d.Order == Random, d.Order == Disagreement && p == 1 && d.Share == 1:
		return 1
	case d.Order == Disagreement && q > 0:
		own, other := d.Share/p, (1-d.Share)/q
		return math.Round(1e6*own/max(own, other)) / 1e6
	}
	return 0
}

// check fills in the order that is missing, and reports a draw that cannot be.
func (d *Draw) check() error {
	inside := func(v float64) bool { return v > 0 && v <= 1 }
	switch d.Order {
	case "":
		d.Order = Chosen
	case Random, Chosen:
	case Disagreement:
		if !inside(d.Probability) || !inside(d.Share) {
			return fmt.Errorf("order disagreement needs probability and share, above 0 and at most 1")
		}
	default:
		return fmt.Errorf("order must be random, disagreement or chosen, not %q", d.Order)
	}
	return nil
}
