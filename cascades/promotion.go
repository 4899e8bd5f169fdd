package cascades

import (
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/wards"
)

// promotion reads the promote_when key of a ward.
func (p *parser) promotion(o *reader.Object, mode wards.Mode) *Promotion {
	when := o.Child("promote_when")
	if when == nil {
		return nil
	}
	if !mode.Enforces() {
		o.Conflict("promote_when", "promote_when means nothing beside mode: %s: it says when a blocking or retrying ward may refuse", mode)
	}
	share := func(key string) float64 {
		f := when.Number(key)
		if f >= 1 {
			p.Error(when.Value[key], codes.Value, "%s must be less than 1, not %s: it is a share", key, when.Value[key].Value)
		}
		return f
	}
	q := &Promotion{FalsePass: share("false_pass"), FalseBlock: share("false_block"), Confidence: share("confidence"), Mode: mode}
	when.Needs("false_pass", "false_block")
	if !when.Has("confidence") {
		q.Confidence = stats.Confidence
	}
	when.Done()
	return q
}

// promote changes the mode of the check to shadow and adds a warning, unless there is evidence
// for exactly this gate.
func (p *parser) promote(c *Check, o *reader.Object) {
	if c.Promote == nil || !c.Promote.Mode.Enforces() {
		return
	}
	if c.Promote.Why = p.unproven(c); c.Promote.Why == "" {
		return
	}
	c.Ward.Mode = wards.Shadow
	p.Warn(o.Keys["promote_when"], codes.Unproven, "%s is in shadow, and refuses nothing: %s", c.Ward.Name, c.Promote.Why)
}

// waits returns the name of a phase that asks a person. It searches the cascade of the
// validator and its nested cascades, and returns "" if no phase asks.
func (v *Validator) waits() (phase string) {
	if v.Cascade != nil {
		v.Cascade.anyPhase(func(p *Phase) bool {
			if p.Human != nil || p.asksInTurn() {
				phase = p.Name
			}
			return phase != ""
		})
	}
	return phase
}

// unproven returns the reason why the evidence does not allow the promotion, or "". The
// identity of a gate does not include files of evidence.
func (p *parser) unproven(c *Check) string {
	own := *p.cascade
	own.Files = *p.files
	digest, err := own.Identity(c.Validator, p.known.Chosen, p.open)
	if err != nil {
		return err.Error()
	}
	gate := stats.Gate{File: own.File, Cascade: own.ID, Phase: p.reading, Moment: string(c.Ward.Moment), Name: c.Validator.Name, Digest: digest}
	e, _, reason := gate.Find(p.open)
	if reason != "" {
		return reason
	}
	q := c.Promote
	_, reason = e.Allows(q.Confidence, q.FalsePass, q.FalseBlock)
	return reason
}
