package cascades

import (
	"fmt"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/wards"
)

// Unmeasured are the gates on the proof's ways of which no evidence shows, with 95
// % confidence, that they let at most so many of the bad texts by: each where the
// way ends, once. The rest is as for [Cascade.Gates].
func (c *Cascade) Unmeasured(p *Proof, falsePass float64, chosen Chosen, open Opener) Diagnostics {
	found := Diagnostics{}
	why, told := map[ProofGate]string{}, map[string]bool{}
	for _, w := range p.Ways {
		for _, g := range w.Gates {
			if _, known := why[g]; !known {
				why[g] = c.unmeasured(g, falsePass, chosen, open)
			}
			d := Diagnostic{Position: w.At, Code: CodeUnmeasured, Severity: Wrong, Message: fmt.Sprintf("tool %s: gate %s on the way of %s: %s", w.Tool, g, w.From, why[g])}
			if why[g] != "" && !told[d.String()] {
				told[d.String()] = true
				found = append(found, d)
			}
		}
	}
	return found
}

// unmeasured tells what is missing for a gate to be called measured.
func (c *Cascade) unmeasured(g ProofGate, falsePass float64, chosen Chosen, open Opener) string {
	if g.Moment == "receipt" {
		return "a receipt tells which gates a text has passed, not here how strong they are"
	}
	own := *g.of
	own.Files = c.Files
	var name, id string
	var err error
	moment := wards.Moment(g.Moment)
	if moment == "phase" { // what a gate that is one says is a verdict on its text
		moment = wards.Post
	}
	if g.validator == nil {
		name = string(wards.OutputSchema)
		id, err = digest(map[string]any{"schema": g.phase.OutputSchema.Source()})
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
