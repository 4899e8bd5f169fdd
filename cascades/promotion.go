package cascades

import (
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/wards"
)

// A Promotion is what must have been shown of a gate before it may refuse
// anything: that it lets at most so many of the bad texts by and refuses at most
// so many of the good ones, with the confidence. Until then it is in shadow.
type Promotion struct {
	FalsePass, FalseBlock, Confidence float64
	Mode                              wards.Mode // that the file gives it
	Why                               string     // it is in shadow; "" where the evidence is there
}

// promotion reads promote_when of a ward in o.
func (p *parser) promotion(o *object, mode wards.Mode) *Promotion {
	when := o.child("promote_when")
	if when == nil {
		return nil
	}
	if !mode.Stands() {
		o.conflict("promote_when", "promote_when means nothing beside mode: %s: it says when a blocking or retrying ward may refuse", mode)
	}
	share := func(key string) float64 {
		f := when.number(key)
		if f >= 1 {
			p.report(when.value[key], CodeValue, "%s must be less than 1, not %s: it is a share", key, when.value[key].Value)
		}
		return f
	}
	q := &Promotion{FalsePass: share("false_pass"), FalseBlock: share("false_block"), Confidence: share("confidence"), Mode: mode}
	when.needs("false_pass", "false_block")
	if !when.has("confidence") {
		q.Confidence = measure.Confidence
	}
	when.done()
	return q
}

// promote puts the check in shadow where there is no evidence for exactly the
// gate that it is, and says so.
func (p *parser) promote(c *Check, o *object) {
	if c.Promote == nil || !c.Promote.Mode.Stands() {
		return
	}
	if c.Promote.Why = p.unproven(c); c.Promote.Why == "" {
		return
	}
	c.Ward.Mode = wards.Shadow
	p.warn(o.keys["promote_when"], CodeUnproven, "%s is in shadow, and refuses nothing: %s", c.Ward.Name, c.Promote.Why)
}

// waits names the phase of a cascade that judges, or of one within it, which asks a
// person; "" where none does.
func (v *Validator) waits() (phase string) {
	if v.Cascade != nil {
		v.Cascade.Any(func(p *Phase) bool {
			if p.Human != nil || p.asksOnTheWay() {
				phase = p.Name
			}
			return phase != ""
		})
	}
	return phase
}

// unproven tells what is missing for the check to be promoted, "" where nothing
// is. What it reads is kept with the cascade, and is no part of what a gate is.
func (p *parser) unproven(c *Check) string {
	own := *p.cascade
	own.Files = *p.files
	digest, err := own.Identity(c.Validator, p.known.Chosen, p.open)
	if err != nil {
		return err.Error()
	}
	e, _, why := own.Evidence(c.Validator.Name, digest, p.reading, c.Ward.Moment, p.open)
	if why != "" {
		return why
	}
	q := c.Promote
	_, why = e.Allows(q.Confidence, q.FalsePass, q.FalseBlock)
	return why
}
