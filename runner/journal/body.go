package journal

import (
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// The kinds of rows of the log that are no events.
const (
	modelEffect    = "effect:model"
	toolEffect     = "effect:tool"
	findingEffect  = "effect:validate"
	answerEffect   = "effect:ask"
	timeoutEffect  = "effect:timeout"
	droppedEffect  = "dropped" // its place is free for another try
	writeBegins    = "begun"   // a tool that writes is about to be called, or may have been by a run that this one shares with, whose name it has
	questionBegins = "asked"   // a question that expires is about to be asked for the first time
	noticeBegins   = "notice"  // somebody is about to be told of a question, by this process
	noticeEnds     = "noticed" // what came of it
	legBegins      = "leg"     // a process begins to run the run
)

// isEvent tells rows that are events: those are counted.
func isEvent(kind string) bool {
	switch kind {
	case droppedEffect, writeBegins, questionBegins, noticeBegins, noticeEnds, legBegins:
		return false
	}
	return !isEffect(kind)
}

func isEffect(kind string) bool { return strings.HasPrefix(kind, "effect:") }

// A body is what the log keeps of an event beside its kind, path and time.
// What the effect at the same path has is not kept twice.
type body struct {
	RunID     string         `json:"run_id,omitempty"`
	CascadeID string         `json:"cascade_id,omitempty"`
	Input     map[string]any `json:"input,omitempty"`

	Phase   string `json:"phase,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Turn    *int   `json:"turn,omitempty"`

	Validator string          `json:"validator,omitempty"`
	Request   *asked          `json:"request,omitempty"`
	Response  *model.Response `json:"response,omitempty"`
	Call      *tool.Call      `json:"call,omitempty"`
	Result    *tool.Result    `json:"result,omitempty"`
	Verdict   *event.Verdict  `json:"verdict,omitempty"`
	Effect    int64           `json:"effect,omitempty"` // the row of the effect that has Response or Result

	By       string       `json:"by,omitempty"`
	Status   string       `json:"status,omitempty"`
	Text     string       `json:"text,omitempty"`
	Message  string       `json:"message,omitempty"`
	Output   any          `json:"output,omitempty"`
	Released event.Path   `json:"released,omitempty"`
	From     string       `json:"from,omitempty"`
	To       string       `json:"to,omitempty"`
	Usage    *model.Usage `json:"usage,omitempty"`
	Error    *event.Error `json:"error,omitempty"`

	Items    int             `json:"items,omitempty"`
	Failures []event.Failure `json:"failures,omitempty"`
	Pruning  *event.Pruning  `json:"pruning,omitempty"`
}

// asked is a request: its messages are the first Keep of those of the request
// in row On, what a model said, and then Said.
type asked struct {
	Model     string          `json:"model,omitempty"`
	Phase     string          `json:"phase,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	Turn      int             `json:"turn,omitempty"`
	Validator string          `json:"validator,omitempty"`
	Role      string          `json:"role,omitempty"`
	Tools     string          `json:"tools,omitempty"`  // JSON, a text: the same at every turn
	Schema    string          `json:"schema,omitempty"` // JSON, a text
	Params    *model.Params   `json:"params,omitempty"`
	On        int64           `json:"on,omitempty"`
	Keep      int             `json:"keep,omitempty"`
	First     event.Path      `json:"first,omitempty"`  // the conversation's first call, where it is another
	Before    int             `json:"before,omitempty"` // messages that stood at its last call
	Reply     int64           `json:"reply,omitempty"`  // the row of the effect that gave the first message behind those
	Said      []model.Message `json:"said,omitempty"`
}

// bodyOf is the body of an event that asks no model. What is huge in it, p takes
// up.
func bodyOf(e *event.Event, p *packer) body {
	b := body{
		RunID: e.RunID, CascadeID: e.CascadeID, Input: p.liftObject(e.Input),
		Phase: e.Phase, Attempt: e.Attempt, Turn: e.Turn, Validator: e.Validator,
		Response: e.Response, Result: e.Result, Verdict: e.Verdict,
		By: e.By, Status: e.Status, Text: e.Text, Message: e.Message, Output: p.lift(e.Output), Released: e.Released,
		From: e.From, To: e.To, Usage: e.Usage, Error: e.Error, Items: e.Items, Failures: e.Failures, Pruning: e.Pruning,
	}
	if e.Call != nil {
		call := *e.Call
		call.Arguments = p.liftObject(call.Arguments)
		b.Call = &call
	}
	if e.Result != nil {
		b.Result = &tool.Result{Value: p.lift(e.Result.Value), Failed: e.Result.Failed, Gone: e.Result.Gone}
	}
	return b
}

// event is the event that a body was made of, but for what is kept elsewhere.
func (b *body) event(e *event.Event) {
	e.RunID, e.CascadeID, e.Input = b.RunID, b.CascadeID, b.Input
	e.Phase, e.Attempt, e.Turn, e.Validator = b.Phase, b.Attempt, b.Turn, b.Validator
	e.Response, e.Call, e.Result, e.Verdict = b.Response, b.Call, b.Result, b.Verdict
	e.By, e.Status, e.Text, e.Message, e.Output = b.By, b.Status, b.Text, b.Message, b.Output
	e.From, e.To, e.Usage, e.Error = b.From, b.To, b.Usage, b.Error
	e.Items, e.Failures, e.Released, e.Pruning = b.Items, b.Failures, b.Released, b.Pruning
}

// came is what an effect came to, with who asked for it.
type came struct {
	Model     string `json:"model,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
	Turn      int    `json:"turn,omitempty"`
	Validator string `json:"validator,omitempty"`
	Moment    string `json:"moment,omitempty"`
	Role      string `json:"role,omitempty"`

	Response *model.Response `json:"response,omitempty"`
	Result   *tool.Result    `json:"result,omitempty"`
	Finding  *engine.Finding `json:"finding,omitempty"`
	Answer   *engine.Answer  `json:"answer,omitempty"`
}

// failed tells of an effect that broke.
func (c *came) failed() bool {
	return c.Response != nil && c.Response.Failure != nil || c.Finding != nil && c.Finding.Failure != ""
}
