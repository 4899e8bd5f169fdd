package proofs

import (
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/wards"
)

// Unmeasured returns a diagnostic for each gate without evidence that, with 95
// % confidence, its rate of false passes is at most falsePass. Each diagnostic
// has the position of the path's end. The other arguments are those of
// [cascades.Cascade.Gates].
func (p *Proof) Unmeasured(falsePass float64, chosen cascades.Chosen, open cascades.Opener) syntax.Diagnostics {
	found := syntax.Diagnostics{}
	problems, reported := map[Gate]string{}, map[string]bool{}
	for _, w := range p.Paths {
		for _, g := range w.Gates {
			if _, known := problems[g]; !known {
				problems[g] = p.unmeasured(g, falsePass, chosen, open)
			}
			d := syntax.Diagnostic{Position: w.At, Code: codes.Unmeasured, Severity: syntax.Wrong,
				Message: fmt.Sprintf("tool %s: gate %s on the way of %s: %s", w.Tool, g, w.From, problems[g])}
			if problems[g] != "" && !reported[d.String()] {
				reported[d.String()] = true
				found = append(found, d)
			}
		}
	}
	return found
}

// unmeasured describes the missing evidence for a gate, or returns "".
func (p *Proof) unmeasured(g Gate, falsePass float64, chosen cascades.Chosen, open cascades.Opener) string {
	if g.Moment == "receipt" {
		return "a receipt tells which gates a text has passed, not here how strong they are"
	}
	own := *g.of
	own.Files = p.cascade.Files
	var name, id string
	var err error
	moment := wards.Moment(g.Moment)
	if moment == "phase" { // the verdict of such a phase is a verdict on its text
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
	e, _, problem := stats.Gate{File: own.File, Cascade: own.ID, Phase: g.Phase, Moment: string(moment), Name: name, Digest: id}.Find(open)
	if problem == "" {
		_, problem = e.Passes(stats.Confidence, falsePass)
	}
	return problem
}
