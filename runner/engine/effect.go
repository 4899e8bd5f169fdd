package engine

import (
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// An effect is data: what a host is asked for says where in the cascade it
// stands, so that a process that has loaded the same files, and knows nothing of
// the run, can make it. What does it in the process of the run is at hand too,
// and does not travel.

// A Job is one call of a tool.
type Job struct {
	Place *cascades.Place `json:"place"`
	Call  tool.Call       `json:"call"`

	Tool tool.Tool `json:"-"` // what does it, see [Effect.Resolve]
}

// A Validation is one use of a validator on a text.
type Validation struct {
	Place     *cascades.Place    `json:"place"`
	Validator string             `json:"validator"`
	Pure      bool               `json:"pure,omitempty"`
	With      map[string]any     `json:"with,omitempty"` // parameters that came with the run
	Subject   validators.Subject `json:"subject"`

	Check validators.Check `json:"-"` // what does it, see [Effect.Resolve]
}

// A Finding is what came of a validation: a verdict, or why there is none.
type Finding struct {
	Verdict validators.Verdict `json:"verdict"`
	Failure string             `json:"failure,omitempty"`
}

// An Effect is one that is to be made elsewhere: exactly one of Request, Job and
// Validation is set. It is plain JSON, to be read with [schema.Unmarshal].
// Questions are no effects that a machine can make.
type Effect struct {
	At         event.Path     `json:"at"`
	Run        string         `json:"run"`
	Request    *model.Request `json:"request,omitempty"`
	Job        *Job           `json:"job,omitempty"`
	Validation *Validation    `json:"validation,omitempty"`
}

// Came is what came of an effect: the one of its fields that fits.
type Came struct {
	Response *model.Response `json:"response,omitempty"`
	Result   *tool.Result    `json:"result,omitempty"`
	Finding  *Finding        `json:"finding,omitempty"`
}

// Resolve finds what makes the effect, in a cascade that was loaded here. An
// error says that the cascade is another, or lacks what the effect names.
func (e *Effect) Resolve(c *cascades.Cascade) error {
	switch {
	case e.Request != nil:
		e.Request.Key, e.Request.Run = effectKey(e.Run, e.At), e.Run
		return nil
	case e.Job != nil:
		t, err := c.ToolAt(e.Job.Place)
		if err != nil {
			return err
		}
		e.Job.Tool = t.Tool
		return nil
	case e.Validation != nil:
		v, err := c.ValidatorAt(e.Validation.Place)
		if err != nil {
			return err
		}
		e.Validation.Check, err = v.Bound(e.Validation.With)
		return err
	default:
		return fmt.Errorf("effect %s: it asks for nothing", e.At)
	}
}

// Make has a host make an effect that was resolved.
func (e *Effect) Make(h Host) (Came, error) {
	switch {
	case e.Request != nil:
		r, err := h.Model(e.At, *e.Request)
		return Came{Response: &r}, err
	case e.Job != nil:
		r, err := h.Tool(e.At, *e.Job)
		return Came{Result: &r}, err
	case e.Validation != nil:
		f, err := h.Validate(e.At, *e.Validation)
		return Came{Finding: &f}, err
	default:
		return Came{}, fmt.Errorf("effect %s: it asks for nothing", e.At)
	}
}

// effectKey is the idempotency key of an effect.
func effectKey(run string, at event.Path) string { return run + ":" + string(at) }
