package enginetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// Serial is a host whose branches run one after the other, so that a run's
// events always come in the same order.
type Serial struct{ engine.Host }

// Each runs the bodies in order.
func (s Serial) Each(n, _ int, body func(engine.Host, int) error) error {
	return s.Host.Each(n, 1, func(h engine.Host, i int) error { return body(Serial{h}, i) })
}

// Within runs the body in order too.
func (s Serial) Within(d time.Duration, body func(engine.Host) error) error {
	return s.Host.Within(d, func(h engine.Host) error { return body(Serial{h}) })
}

// A Transcript is a run's events as lines that a person reads.
type Transcript struct{ lines []string }

// Emit adds one event.
func (t *Transcript) Emit(e event.Event) {
	t.lines = append(t.lines, strings.TrimRight(fmt.Sprintf("%s %s %s", e.Kind, e.Path, told(e)), " "))
}

// String gives the lines.
func (t *Transcript) String() string { return strings.Join(t.lines, "\n") + "\n" }

// told is what an event says besides its kind and path.
func told(e event.Event) string {
	switch e.Kind {
	case event.ModelCalled:
		last := e.Request.Messages[len(e.Request.Messages)-1]
		who := ""
		for _, t := range e.Request.Tools {
			who += " +" + t.Name
		}
		if e.Validator != "" {
			return fmt.Sprintf("judge %s", e.Validator)
		}
		if e.Request.Role != "" {
			return e.Request.Role
		}
		return fmt.Sprintf("[%d%s] %s: %s", len(e.Request.Messages), who, last.Role, quote(last.Content))
	case event.ModelReplied:
		if e.Response.Failure != nil {
			return "failure: " + quote(e.Response.Failure.Error())
		}
		s := quote(e.Response.Text)
		for _, c := range e.Response.ToolCalls {
			s += fmt.Sprintf(" call %s %s", c.Name, c.Arguments)
		}
		return s
	case event.ToolCalled:
		return fmt.Sprintf("%s %v", e.Call.Name, e.Call.Arguments)
	case event.ToolReplied:
		return quote(e.Result.Text())
	case event.VerdictGiven:
		v := e.Verdict
		switch {
		case v.Error != nil:
			return fmt.Sprintf("%s %s error: %s", v.Mode, v.Validator, quote(*v.Error))
		case *v.Valid:
			return fmt.Sprintf("%s %s yes", v.Mode, v.Validator)
		}
		return fmt.Sprintf("%s %s no: %s", v.Mode, v.Validator, quote(v.Reason))
	case event.Route:
		return "to " + e.To
	case event.AttemptFinished, event.PhaseFinished:
		return e.Status
	case event.Feedback, event.Waiting:
		return quote(e.Message)
	case event.RunFinished:
		if e.Error != nil {
			return fmt.Sprintf("%s phase=%s: %s", e.Status, e.Error.Phase, quote(e.Error.Message))
		}
		return fmt.Sprintf("%s %v", e.Status, e.Output)
	}
	return ""
}

func quote(s string) string {
	if r := []rune(s); len(r) > 600 {
		s = string(r[:600]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
