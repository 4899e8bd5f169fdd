package storytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Serial is a host whose branches run one after the other, so that a run's
// events always come in the same order.
type Serial struct{ engine.Host }

// Each runs the bodies in order.
func (s Serial) Each(n, _ int, body func(engine.Host, int) error) error {
	return s.Host.Each(n, 1, func(h engine.Host, i int) error { return body(Serial{h}, i) })
}

// Within runs the body in order too.
func (s Serial) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return s.Host.Within(at, d, func(h engine.Host) error { return body(Serial{h}) })
}

// A Transcript is a run's events as readable lines.
type Transcript struct {
	lines         []string
	conversations event.Conversations
	invariants    invariants
}

// Emit adds one event. It adds a second line if the event's JSON is incomplete.
func (t *Transcript) Emit(e event.Event) {
	t.lines = append(t.lines, strings.TrimRight(fmt.Sprintf("%s %s %s", e.Kind, e.Path, describe(e)), " "))
	if err := t.invariants.check(e); err != nil {
		t.lines = append(t.lines, "PROMISE BROKEN: "+err.Error())
	}
	if e.Kind == event.ModelCalled {
		if err := t.checkJSON(e); err != nil {
			t.lines = append(t.lines, "NOT TOLD: "+err.Error())
		}
	}
}

// checkJSON checks that the JSON of the events so far contains the whole
// request, and that the first call of a conversation is complete.
func (t *Transcript) checkJSON(e event.Event) error {
	text, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	var read event.Event
	if err := read.UnmarshalJSON(text); err != nil {
		return err
	}
	news := len(read.Request.Messages)
	if read, err = t.conversations.Restore(read); err != nil {
		return err
	}
	alike, got := sameMessages(read.Request.Messages, e.Request.Messages)
	if !alike || news+e.Before != len(e.Request.Messages) || (e.Before == 0) != (e.Conversation == e.Path) {
		return fmt.Errorf("%s: read as %s", text, got)
	}
	return nil
}

// sameMessages compares decoded messages with the original ones. They may
// differ in data that JSON does not contain.
func sameMessages(got, want []model.Message) (bool, []byte) {
	if reflect.DeepEqual(got, want) {
		return true, nil
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	return bytes.Equal(a, b), a
}

// String returns the lines.
func (t *Transcript) String() string { return strings.Join(t.lines, "\n") + "\n" }

// Format returns the lines followed by the result as JSON, in the form of a
// story's want.
func (t *Transcript) Format(tb testing.TB, r engine.Result) string {
	tb.Helper()
	shown, err := json.MarshalIndent(struct {
		Outputs  map[string]any       `json:"outputs"`
		Phases   []engine.PhaseRecord `json:"phases"`
		Degraded []engine.Degraded    `json:"degraded"`
	}{r.Outputs, r.Phases, r.Degraded}, "", "  ")
	if err != nil {
		tb.Fatal(err)
	}
	return t.String() + string(shown) + "\n"
}

// Same ends the test at the first line where two texts differ. The message
// names the text by what.
func Same(tb testing.TB, what, got, want string) {
	tb.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			tb.Fatalf("%s, line %d:\ngot  %s\nwant %s\n\nall of it:\n%s", what, i+1, line(a, i), line(b, i), got)
		}
	}
}

func line(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// describe returns the content of an event besides its kind and path.
func describe(e event.Event) string {
	switch e.Kind {
	case event.RunStarted:
		return compact(e.Input)
	case event.PhaseStarted:
		if e.Items > 0 {
			return fmt.Sprintf("%d items", e.Items)
		}
	case event.ModelCalled:
		return describeCall(e)
	case event.ModelReplied:
		return describeReply(e.Response)
	case event.ToolCalled:
		return fmt.Sprintf("%s %v", e.Call.Name, e.Call.Arguments)
	case event.ToolReplied:
		return quote(e.Result.Text())
	case event.VerdictGiven:
		return found(e.Verdict)
	case event.Route:
		return "to " + e.To
	case event.AttemptFinished, event.PhaseFinished:
		if e.CascadeID != "" {
			return e.Status + " for outputs." + e.CascadeID
		}
		return e.Status
	case event.Pruned:
		return strings.TrimSpace(fmt.Sprintf("%s: %d messages, %d tokens to %d of %d %s", e.Pruning.Strategy, e.Pruning.Messages, e.Pruning.Tokens, e.Pruning.Left, e.Pruning.Room, e.Message))
	case event.Feedback, event.Waiting:
		return quote(e.Message)
	case event.Answered:
		if e.Status != "" {
			return e.Status
		}
		return strings.TrimSpace(fmt.Sprintf("%s: %q", e.By, fmt.Sprint(e.Output)))
	case event.RunFinished:
		if e.Error != nil {
			return strings.TrimSpace(fmt.Sprintf("%s phase=%s: %s %s", e.Status, e.Error.Phase, quote(e.Error.Message), e.Error.Position))
		}
		return fmt.Sprintf("%s %v", e.Status, e.Output)
	}
	return ""
}

// describeCall returns the content of a call to a model.
func describeCall(e event.Event) string {
	tools, news := "", e.Request.Messages
	if e.Before > 0 {
		news = news[len(news)-1:]
	}
	for _, t := range e.Request.Tools {
		tools += " +" + t.Name
	}
	if e.Request.Schema != nil {
		tools += " schema"
	}
	asked := askedOf(e)
	if e.Validator != "" {
		return fmt.Sprintf("judge %s", e.Validator) + asked
	}
	if e.Request.Role != "" {
		return e.Request.Role + asked
	}
	var texts []string
	for _, m := range news {
		texts = append(texts, fmt.Sprintf("%s: %s", m.Role, quote(m.Content)))
	}
	return strings.TrimPrefix(asked+" ", " ") + fmt.Sprintf("[%d%s] %s", len(e.Request.Messages), tools, strings.Join(texts, " | "))
}

// describeReply returns the content of a reply of a model.
func describeReply(r *model.Response) string {
	if r.Failure != nil {
		return "failure: " + quote(r.Failure.Error())
	}
	s := quote(r.Text)
	if r.Thinking != "" {
		s += " thinking " + quote(r.Thinking)
	}
	for _, c := range r.ToolCalls {
		s += fmt.Sprintf(" call %s %s", c.Name, c.Arguments)
	}
	return s
}

// found returns a verdict with all its members.
func found(v *event.Verdict) string {
	s := v.Mode + " " + v.Validator
	switch {
	case v.Error != nil:
		s += " error: " + quote(*v.Error)
	case v.Skipped():
		s += " skipped: " + quote(v.Reason)
	case *v.Valid:
		s += " yes"
	default:
		s += " no: " + quote(v.Reason)
	}
	more := map[string]any{}
	if v.Score != nil {
		more["score"] = *v.Score
	}
	if len(v.Issues) > 0 {
		more["issues"] = v.Issues
	}
	if len(v.Warnings) > 0 {
		more["warnings"] = v.Warnings
	}
	for name, value := range map[string]any{"fix": v.Fix, "evidence": v.Evidence, "details": v.Details, "status": v.Status} {
		if value != nil && value != "" && value != event.Skipped {
			more[name] = value
		}
	}
	return strings.TrimSpace(s + " " + compact(more))
}

// compact returns an object as JSON in one line, or "" if it is empty.
func compact(object map[string]any) string {
	if len(object) == 0 {
		return ""
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// askedOf returns the model of a request, with its parameters and the first
// call of its conversation.
func askedOf(e event.Event) string {
	if e.Request.Model == "" {
		return ""
	}
	s := " " + e.Request.Model + e.Request.Params.String()
	if e.Message != "" {
		s += " (" + e.Message + ")"
	}
	return s
}

func quote(s string) string { return strconv.Quote(clips.Chars(s, 601)) }
