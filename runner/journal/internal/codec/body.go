// Package codec converts events, effects, starts and results of runs to rows of a store,
// and rows to events. Its functions are pure: they read and write no store, no file and no
// clock.
//
// A [Row] is an event, an effect or a mark of a run. A [Packer] prepares its JSON: it
// replaces secrets by marks and long texts by their digests, see [Secrets] and [Text].
// [NewPack] joins the rows that a run writes together to one [Pack], which has a checksum.
// [Pack.Each] returns them again as [StoredRow] values. [Conversations] encode a request
// without the messages that earlier requests of the run have. A [Fingerprint] identifies a
// request when a run is resumed.
//
// Begin with pack.go, and read shapes.go for the format of a row.
package codec

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Kinds of rows of the log that are not events.
const (
	ModelEffect   = "effect:model"
	ToolEffect    = "effect:tool"
	FindingEffect = "effect:validate"
	AnswerEffect  = "effect:ask"
	TimeoutEffect = "effect:timeout"
	DroppedEffect = "dropped"         // the place of the effect is free for another try
	WriteStarts   = "write_started"   // before a call of a writing tool; also copied from the run that shares the call, with its name
	QuestionAsked = "question_asked"  // before a question that expires is asked for the first time
	NoticeStarts  = "notice_started"  // before this process sends the notice of a question
	NoticeEnds    = "notice_ended"    // the result of that notice
	ProcessStarts = "process_started" // a process starts or resumes the run
)

// IsEvent reports whether rows of a kind are events, which are numbered.
func IsEvent(kind string) bool {
	switch kind {
	case DroppedEffect, WriteStarts, QuestionAsked, NoticeStarts, NoticeEnds, ProcessStarts:
		return false
	}
	return !IsEffect(kind)
}

// IsEffect reports whether rows of a kind are results of effects.
func IsEffect(kind string) bool { return strings.HasPrefix(kind, "effect:") }

// A Body is the JSON of an event's row, without its kind, path and time. It
// does not repeat the data of the effect at the same path.
type Body struct {
	RunID     string         `json:"run_id,omitempty"`
	CascadeID string         `json:"cascade_id,omitempty"`
	Input     map[string]any `json:"input,omitempty"`

	Phase   string `json:"phase,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Turn    *int   `json:"turn,omitempty"`

	Validator string          `json:"validator,omitempty"`
	Request   *Request        `json:"request,omitempty"`
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

// Request is a request as its row has it. Its messages are the first BaseCount
// messages of the request in row Base, then the reply in row Reply, then
// Messages.
type Request struct {
	Model     string          `json:"model,omitempty"`
	Phase     string          `json:"phase,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
	Turn      int             `json:"turn,omitempty"`
	Validator string          `json:"validator,omitempty"`
	Role      string          `json:"role,omitempty"`
	Tools     string          `json:"tools,omitempty"`  // JSON text, because it is the same in every turn
	Schema    string          `json:"schema,omitempty"` // JSON text
	Params    *model.Params   `json:"params,omitempty"`
	Base      int64           `json:"base,omitempty"`
	BaseCount int             `json:"base_count,omitempty"`
	First     event.Path      `json:"first,omitempty"`  // first call of the conversation, if another
	Before    int             `json:"before,omitempty"` // number of messages at the conversation's previous call
	Reply     int64           `json:"reply,omitempty"`  // the row of the effect that returned the next message
	Messages  []model.Message `json:"messages,omitempty"`
}

// News returns the request's own messages that were not in the previous call of the
// conversation. A row may repeat messages of its conversation.
func (a *Request) News() ([]model.Message, error) {
	if a.Before > a.BaseCount+len(a.Messages) {
		return nil, fmt.Errorf("%d of %d messages are known", a.Before, a.BaseCount+len(a.Messages))
	}
	return a.Messages[max(a.Before-a.BaseCount, 0):], nil
}

// BodyOf returns the body of an event, without its request.
func BodyOf(e *event.Event) Body {
	return Body{
		RunID: e.RunID, CascadeID: e.CascadeID, Input: e.Input,
		Phase: e.Phase, Attempt: e.Attempt, Turn: e.Turn, Validator: e.Validator,
		Response: e.Response, Call: e.Call, Result: e.Result, Verdict: e.Verdict,
		By: e.By, Status: e.Status, Text: e.Text, Message: e.Message, Output: e.Output, Released: e.Released,
		From: e.From, To: e.To, Usage: e.Usage, Error: e.Error, Items: e.Items, Failures: e.Failures, Pruning: e.Pruning,
	}
}

// CopyTo copies the body to an event, except for data in other rows.
func (b *Body) CopyTo(e *event.Event) {
	e.RunID, e.CascadeID, e.Input = b.RunID, b.CascadeID, b.Input
	e.Phase, e.Attempt, e.Turn, e.Validator = b.Phase, b.Attempt, b.Turn, b.Validator
	e.Response, e.Call, e.Result, e.Verdict = b.Response, b.Call, b.Result, b.Verdict
	e.By, e.Status, e.Text, e.Message, e.Output = b.By, b.Status, b.Text, b.Message, b.Output
	e.From, e.To, e.Usage, e.Error = b.From, b.To, b.Usage, b.Error
	e.Items, e.Failures, e.Released, e.Pruning = b.Items, b.Failures, b.Released, b.Pruning
}

// Effect is the result of an effect, with its caller.
type Effect struct {
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

// Failed reports whether the effect failed.
func (c *Effect) Failed() bool {
	return c.Response != nil && c.Response.Failure != nil || c.Finding != nil && c.Finding.Failure != ""
}
