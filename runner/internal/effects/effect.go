// Package effects encodes the effects of a run for another process: as JSON,
// with long texts by reference. A host over a queue or a workflow engine sends
// an [Effect] and receives its [Outcome]. The process at the other end has
// loaded the same files. It resolves the names in the effect, and its own host
// makes the effect. It knows nothing else of the run. Begin with [Effect].
package effects

import (
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// An Effect is an effect for another process: exactly one of Request, Job and
// Validation is set. It is plain JSON, which [schema.Unmarshal] reads. Only a
// person can answer a question, so a question is not an Effect.
type Effect struct {
	At         event.Path         `json:"at"`
	Run        string             `json:"run"`
	Request    *model.Request     `json:"request,omitempty"`
	Calls      int                `json:"calls,omitempty"` // the limit for calls of the request at the endpoint; 0 for no limit
	Job        *engine.Job        `json:"job,omitempty"`
	Validation *engine.Validation `json:"validation,omitempty"`
}

// An Outcome is the result of an effect. One field is set.
type Outcome struct {
	Response *model.Response `json:"response,omitempty"`
	Result   *tool.Result    `json:"result,omitempty"`
	Finding  *engine.Finding `json:"finding,omitempty"`
}

// Resolve finds the tool or validator of the effect in a cascade that was
// loaded in this process. It returns an error if the cascade is not the same or
// does not have it.
func (e *Effect) Resolve(c *cascades.Cascade) error {
	switch {
	case e.Request != nil:
		e.Request.Key, e.Request.Run = engine.Key(e.Run, e.At), e.Run
		e.limit()
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

// limit limits the calls of the request to the budget of its run at the time of
// the request. Calls of other branches since then do not count.
func (e *Effect) limit() {
	e.Request.Left = e.Calls
	if e.Calls == 0 {
		return
	}
	made := 1
	e.Request.More = func() string {
		if made == e.Calls {
			return "max_calls"
		}
		made++
		return ""
	}
}

// Make makes a resolved effect with a host and returns the outcome.
func (e *Effect) Make(h engine.Host) (Outcome, error) {
	switch {
	case e.Request != nil:
		r, err := h.Model(e.At, *e.Request)
		return Outcome{Response: &r}, err
	case e.Job != nil:
		r, err := h.Tool(e.At, *e.Job)
		return Outcome{Result: &r}, err
	case e.Validation != nil:
		f, err := h.Validate(e.At, *e.Validation)
		return Outcome{Finding: &f}, err
	default:
		return Outcome{}, fmt.Errorf("effect %s: it asks for nothing", e.At)
	}
}
