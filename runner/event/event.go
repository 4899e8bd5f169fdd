package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A Kind is the type of an event.
type Kind string

// The kinds. The comments list the fields of [Event] that each kind sets in
// addition to the common ones.
const (
	RunStarted      Kind = "run_started"      // RunID, CascadeID, Input
	PhaseStarted    Kind = "phase_started"    // Phase; Items for a phase with each
	AttemptStarted  Kind = "attempt_started"  // Phase, Attempt
	TurnStarted     Kind = "turn_started"     // Phase, Attempt, Turn
	ModelCalled     Kind = "model_called"     // Request, Conversation, Before; Validator for a judge's call
	ModelReplied    Kind = "model_replied"    // Response, Validator
	ToolCalled      Kind = "tool_called"      // Call
	ToolReplied     Kind = "tool_replied"     // Result
	VerdictGiven    Kind = "verdict"          // Verdict
	Feedback        Kind = "feedback"         // Message
	Pruned          Kind = "pruned"           // Phase, Attempt, Turn, Pruning; Message: why there is no summary
	AttemptFinished Kind = "attempt_finished" // Phase, Attempt, Status, Text
	PhaseFinished   Kind = "phase_finished"   // Phase, Status, Output, Released; Failures; CascadeID of a sub-cascade whose output is shared
	Route           Kind = "route"            // From, To; Message: why the phase has no output
	Waiting         Kind = "waiting"          // Phase, Message: the question; Released: the attempt that it is about
	Answered        Kind = "answered"         // Phase, Output: the person's answer, By; Status if it expired
	RunFinished     Kind = "run_finished"     // RunID, Status, Output, Usage, Error
)

// An Event records one step of a run. Its JSON is one flat object. The request
// contains only the messages that are new since the last call of the
// conversation. The field messages_before counts the earlier ones.
type Event struct {
	Seq  int64     `json:"seq"` // from 1, in the order in which the run made them
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Path Path      `json:"path"`

	Run string `json:"-"` // the run's name, for sinks that receive several runs

	RunID     string         `json:"run_id,omitempty"`
	CascadeID string         `json:"cascade_id,omitempty"`
	Input     map[string]any `json:"input,omitempty"`

	Phase   string `json:"phase,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Turn    *int   `json:"turn,omitempty"`

	Validator string          `json:"validator,omitempty"`
	Request   *model.Request  `json:"request,omitempty"`
	Response  *model.Response `json:"response,omitempty"`
	Call      *tool.Call      `json:"call,omitempty"`
	Result    *tool.Result    `json:"result,omitempty"`
	Verdict   *Verdict        `json:"-"` // its fields are inlined in the event's object

	Conversation Path `json:"conversation,omitempty"` // the path of the conversation's first call
	Before       int  `json:"-"`                      // messages at its last call: messages_before
	Partial      bool `json:"-"`                      // Request lacks the first Before messages: see [Conversations]

	Status   string       `json:"status,omitempty"`
	By       string       `json:"by,omitempty"` // unverified name of the person or program that answered
	Text     string       `json:"text,omitempty"`
	Message  string       `json:"message,omitempty"`
	Output   any          `json:"output,omitempty"`
	Released Path         `json:"released,omitempty"` // the attempt whose text was released, or will be if the person agrees
	From     string       `json:"from,omitempty"`
	To       string       `json:"to,omitempty"`
	Usage    *model.Usage `json:"usage,omitempty"`
	Error    *Error       `json:"error,omitempty"`

	Pruning *Pruning `json:"pruning,omitempty"`

	Items    int       `json:"items,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
}

// A Pruning describes how a conversation was shortened to fit the token_budget
// of a phase. Token counts are conservative estimates.
type Pruning struct {
	Strategy  string `json:"strategy"` // prune_oldest or summarize
	Messages  int    `json:"messages"` // number of removed messages
	Tokens    int    `json:"tokens"`   // weight before, tools and schema included
	Left      int    `json:"left"`     // weight after
	Room      int    `json:"room"`     // limit: max_total minus reserve_for_output
	Estimated bool   `json:"estimated"`
}

// IsVisit reports whether the event starts or ends a visit to a phase.
func (e *Event) IsVisit() bool { return e.Kind == PhaseStarted || e.Kind == PhaseFinished }

// A Failure is a failed item of a phase with the key each. The phase continues with the other
// items.
type Failure struct {
	Index   int    `json:"index"` // from 0
	Code    string `json:"code"`
	Message string `json:"message"` // safe to show to other phases
}

// FailureValues returns the failures as plain values for templates.
func FailureValues(list []Failure) []any {
	plain := make([]any, len(list))
	for i, f := range list {
		plain[i] = map[string]any{"index": f.Index, "code": f.Code, "message": f.Message}
	}
	return plain
}

// MarshalJSON returns the event as one flat object, with the fields of a verdict inlined.
func (e Event) MarshalJSON() ([]byte, error) {
	switch {
	case e.Verdict != nil:
		return json.Marshal(verdictEvent{e.Seq, e.Time, e.Kind, *e.Verdict})
	case e.Kind == ModelCalled && e.Request != nil:
		r := *e.Request
		r.Messages = append([]model.Message{}, e.newMessages()...) // an empty list, not null
		e.Request = &r
		return json.Marshal(calledEvent{plain(e), e.Before})
	}
	return json.Marshal(plain(e))
}

// newMessages returns the messages that earlier events did not report.
func (e *Event) newMessages() []model.Message {
	if e.Partial {
		return e.Request.Messages
	}
	return e.Request.Messages[min(max(e.Before, 0), len(e.Request.Messages)):]
}

// UnmarshalJSON decodes the output of [Event.MarshalJSON] into plain values. A
// request that continues a conversation is marked as Partial.
func (e *Event) UnmarshalJSON(text []byte) error {
	var head struct{ Kind Kind }
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.Kind == VerdictGiven {
		var v verdictEvent
		err := schema.Unmarshal(text, &v)
		*e = Event{Seq: v.Seq, Time: v.Time, Kind: v.Kind, Path: v.Path, Verdict: &v.Verdict}
		return err
	}
	var called calledEvent
	err := schema.Unmarshal(text, &called)
	*e = Event(called.plain)
	e.Before, e.Partial = called.Before, called.Before > 0
	return err
}

type plain Event

type calledEvent struct {
	plain
	Before int `json:"messages_before"`
}

type verdictEvent struct {
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Verdict
}

// A Verdict is the result of one check, with its place in the run.
type Verdict struct {
	Path      Path    `json:"path"`
	Phase     string  `json:"phase"`
	Attempt   int     `json:"attempt"`
	Turn      int     `json:"turn"`
	Moment    string  `json:"moment"` // pre, turn, tool, result, post, loop_until or output_schema
	Validator string  `json:"validator"`
	Mode      string  `json:"mode"`  // blocking, retry, advisory or shadow
	Valid     *bool   `json:"valid"` // nil if the validator failed or was skipped
	Reason    string  `json:"reason"`
	Error     *string `json:"error"` // why there is no verdict

	Score    *float64           `json:"score,omitempty"`
	Issues   []validators.Issue `json:"issues,omitempty"`
	Warnings []validators.Issue `json:"warnings,omitempty"`
	Fix      string             `json:"fix,omitempty"`
	Evidence any                `json:"evidence,omitempty"`
	Status   string             `json:"status,omitempty"`
	Details  any                `json:"details,omitempty"`
}

// The moments of the validators of soundings. Their verdicts have the moment
// post. Filter judges each try, and Threshold judges a winner before the next
// step of a reforge.
const (
	Filter    = "filter"
	Threshold = "threshold"
)

// IsFilter reports whether the verdict comes from the filter of soundings.
func (v *Verdict) IsFilter() bool { return v.CheckMoment() == Filter }

// CheckMoment returns the moment of the check. It distinguishes the validators
// of soundings from the post-wards, because they judge other texts.
func (v *Verdict) CheckMoment() string {
	if v.Moment != "post" {
		return v.Moment // the phase may have the name filter
	}
	switch of := v.Path.Parent().Last(); {
	case of == Filter:
		return Filter
	case strings.HasPrefix(of, Threshold+"["): // the number is that of the step
		return Threshold
	}
	return v.Moment
}

// Index returns the position of the check among those of its moment, from 0.
func (v *Verdict) Index() int {
	_, n, _ := SplitIndex(v.Path.Last()) // 0 for a single check
	return n
}

// Skipped is the status of a verdict for a check that did not run.
const Skipped = "skipped"

// Skipped reports whether the validator did not run. Status alone does not show
// it, because a validator may set any status.
func (v *Verdict) Skipped() bool { return v.Valid == nil && v.Error == nil }

// NonBinding reports whether failures and errors of the check are only
// recorded.
func (v *Verdict) NonBinding() bool { return v.Mode == "advisory" || v.Mode == "shadow" }

// Result returns the validator's verdict, or its error. It returns an error for
// a skipped check too.
func (v *Verdict) Result() (validators.Verdict, error) {
	switch {
	case v.Error != nil:
		return validators.Verdict{}, errors.New(*v.Error)
	case v.Valid == nil:
		return validators.Verdict{}, errors.New(v.Reason)
	}
	return validators.Verdict{Valid: *v.Valid, Reason: v.Reason, Score: v.Score, Issues: v.Issues, Warnings: v.Warnings, Fix: v.Fix}, nil
}

// An Answer is a person's answer to a question of a run.
type Answer struct {
	Path     Path   `json:"path"`
	Phase    string `json:"phase"`
	Question string `json:"question"`
	Value    any    `json:"value"`             // nil if expired; also nil in a result if the answer was an edited text
	By       string `json:"by,omitempty"`      // the unverified name of the person
	Expired  bool   `json:"expired,omitempty"` // nobody answered in time
}

// maxName is the maximum length of a stored name, in characters.
const maxName = 100

// CleanName returns a name in the form that is stored with an answer: one line
// of at most 100 visible characters.
func CleanName(name string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(name, ""), func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	name = strings.Join(words, " ")
	if r := []rune(name); len(r) > maxName {
		name = strings.TrimSpace(string(r[:maxName-1])) + "…"
	}
	return name
}

// WithoutEdit returns the answer for a result. It omits an edited text, which
// the checks may have refused. The released text is the phase's output.
func (a Answer) WithoutEdit() Answer {
	if strings.HasSuffix(string(a.Path), "/question") && strings.Contains(string(a.Path), "/human_input/attempt[") {
		a.Value = nil
	}
	return a
}

// Expired is the status of an [Answered] event without an answer in time.
const Expired = "expired"

// An Error describes why a run did not succeed.
type Error struct {
	Code    string `json:"code"`
	Phase   string `json:"phase"`
	Message string `json:"message"`

	Position Position `json:"position,omitzero"` // the place in the file that ended the run; zero if there is none
}

// String returns the phase, the code and the message. It omits empty parts.
func (e *Error) String() string {
	var b strings.Builder
	if e.Phase != "" {
		fmt.Fprintf(&b, "phase %s: ", e.Phase)
	}
	b.WriteString(e.Code)
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	return b.String()
}

// A Position is a place in a file. Lines and columns start at 1, and columns
// count characters.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:column, or "" for the zero Position.
func (p Position) String() string {
	if p.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Sink receives events in the order of Seq, from one goroutine at a time. It
// must not change the values that an event points to.
type Sink interface {
	Emit(Event)
}

// Func adapts a function to a [Sink].
type Func func(Event)

// Emit calls f.
func (f Func) Emit(e Event) { f(e) }

// Weight estimates the memory of a plain value in bytes.
func Weight(v any) int {
	n := 16
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += Weight(e)
		}
	case map[string]any:
		for name, e := range v {
			n += len(name) + Weight(e)
		}
	}
	return n
}
