package proofs

import (
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/wards"
)

// Unmeasured are the gates on the ways of which no evidence shows, with 95 %
// confidence, that they let at most so many of the bad texts by: each where the way
// ends, once. The rest is as for [cascades.Cascade.Gates].
func (p *Proof) Unmeasured(falsePass float64, chosen cascades.Chosen, open cascades.Opener) cascades.Diagnostics {
	found := cascades.Diagnostics{}
	why, told := map[Gate]string{}, map[string]bool{}
	for _, w := range p.Ways {
		for _, g := range w.Gates {
			if _, known := why[g]; !known {
				why[g] = p.unmeasured(g, falsePass, chosen, open)
			}
			d := cascades.Diagnostic{Position: w.At, Code: cascades.CodeUnmeasured, Severity: cascades.Wrong, Message: fmt.Sprintf("tool %s: gate %s on the way of %s: %s", w.Tool, g, w.From, why[g])}
			if why[g] != "" && !told[d.String()] {
				told[d.String()] = true
				found = append(found, d)
			}
		}
	}
	return found
}

// unmeasured tells what is missing for a gate to be called measured.
func (p *Proof) unmeasured(g Gate, falsePass float64, chosen cascades.Chosen, open cascades.Opener) string {
	if g.Moment == "receipt" {
		return "a receipt tells which gates a text has passed, not here how strong they are"
	}
	own := *g.of
	own.Files = p.cascade.Files
	var name, id string
	var err error
	moment := wards.Moment(g.Moment)
	if moment == "phase" { // what a gate that is one says is a verdict on its text
		moment = wards.Post
	}
	if g.validator == nil {
		name = string(wards.OutputSchema)
		id, err = g.phase.SchemaIdentity()
	} else {
		name = g.validator.Name
		id, err = own.Identity(g.validator, chosen, open)
	}
	if err != nil {
		return err.Error()
	}
	e, _, why := own.Evidence(name, id, g.Phase, moment, open)
	if why == "" {
		_, why = e.Passes(measure.Confidence, falsePass)
	}
	return why
}
