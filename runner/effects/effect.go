// Package effects is how the effects of a run travel to a process that makes
// them: as JSON, with long texts by reference. Whoever writes a host over a queue
// or a workflow engine sends an [Effect] and hears what [Came] of it; the process
// at the other end has loaded the same files, resolves what the effect names, and
// has a host of its own make it. It knows nothing else of the run.
package effects

import (
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// An Effect is one that is to be made elsewhere: exactly one of Request, Job and
// Validation is set. It is plain JSON, to be read with [schema.Unmarshal].
// Questions are no effects that a machine can make.
type Effect struct {
	At         event.Path         `json:"at"`
	Run        string             `json:"run"`
	Request    *model.Request     `json:"request,omitempty"`
	Calls      int                `json:"calls,omitempty"` // that the request may make at the endpoint; 0 for no limit
	Job        *engine.Job        `json:"job,omitempty"`
	Validation *engine.Validation `json:"validation,omitempty"`
}

// Came is what came of an effect: the one of its fields that fits.
type Came struct {
	Response *model.Response `json:"response,omitempty"`
	Result   *tool.Result    `json:"result,omitempty"`
	Finding  *engine.Finding `json:"finding,omitempty"`
}

// Resolve finds what makes the effect, in a cascade that was loaded here. An
// error says that the cascade is another, or lacks what the effect names.
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

// limit lets the request be sent no more often than the budget of its run allowed when
// the request began. Nobody here knows what other branches of the run spend meanwhile.
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

// Make has a host make an effect that was resolved.
func (e *Effect) Make(h engine.Host) (Came, error) {
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
