package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Kind says what an event tells.
type Kind string

// The kinds, and the fields of [Event] that each carries besides those that
// every event has.
const (
	RunStarted      Kind = "run_started"      // RunID, CascadeID, Input
	PhaseStarted    Kind = "phase_started"    // Phase; Items, of a phase with each
	AttemptStarted  Kind = "attempt_started"  // Phase, Attempt
	TurnStarted     Kind = "turn_started"     // Phase, Attempt, Turn
	ModelCalled     Kind = "model_called"     // Request, Conversation, Before, Validator when a judge called
	ModelReplied    Kind = "model_replied"    // Response, Validator
	ToolCalled      Kind = "tool_called"      // Call
	ToolReplied     Kind = "tool_replied"     // Result
	VerdictGiven    Kind = "verdict"          // Verdict
	Feedback        Kind = "feedback"         // Message
	Pruned          Kind = "pruned"           // Phase, Attempt, Turn, Pruning; Message: why nothing was summed up
	AttemptFinished Kind = "attempt_finished" // Phase, Attempt, Status, Text
	PhaseFinished   Kind = "phase_finished"   // Phase, Status, Output, Released; Failures; CascadeID of a sub-cascade whose output comes back
	Route           Kind = "route"            // From, To; Message: what the next phase hears of why there was no output
	Waiting         Kind = "waiting"          // Phase, Message: the question
	Answered        Kind = "answered"         // Phase, Output: what a person said, By; Status where nobody did
	RunFinished     Kind = "run_finished"     // RunID, Status, Output, Usage, Error
)

// An Event is one thing that happened. Its JSON is one flat object, in which a
// request has only the messages that are new since the last call of its
// conversation, and messages_before says how many stood then.
type Event struct {
	Seq  int64     `json:"seq"` // from 1, in the order in which the run saw them
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	Path Path      `json:"path"`

	Run string `json:"-"` // the run's name, for sinks that are told of several runs

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
	Verdict   *Verdict        `json:"-"` // its fields stand in the event's own object

	Conversation Path `json:"conversation,omitempty"` // the first call of the conversation that Request goes on with
	Before       int  `json:"-"`                      // messages that stood at its last call: messages_before
	Cut          bool `json:"-"`                      // Request has not the first Before messages: see [Conversations]

	Status   string       `json:"status,omitempty"`
	By       string       `json:"by,omitempty"` // as the person, or who asked the person, says it
	Text     string       `json:"text,omitempty"`
	Message  string       `json:"message,omitempty"`
	Output   any          `json:"output,omitempty"`
	Released Path         `json:"released,omitempty"` // the attempt whose text was let out
	From     string       `json:"from,omitempty"`
	To       string       `json:"to,omitempty"`
	Usage    *model.Usage `json:"usage,omitempty"`
	Error    *Error       `json:"error,omitempty"`

	Pruning *Pruning `json:"pruning,omitempty"`

	Items    int       `json:"items,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
}

// A Pruning is what became of a conversation that was heavier than a phase's
// token_budget allows. Tokens are estimated, on the safe side.
type Pruning struct {
	Strategy  string `json:"strategy"` // prune_oldest or summarize
	Messages  int    `json:"messages"` // that have left
	Tokens    int    `json:"tokens"`   // that the call would have weighed, tools and schema included
	Left      int    `json:"left"`     // that it weighs
	Room      int    `json:"room"`     // that it may weigh: max_total without reserve_for_output
	Estimated bool   `json:"estimated"`
}

// OfVisit tells whether the event tells of a visit as a whole: that it begins or is over.
func (e *Event) OfVisit() bool { return e.Kind == PhaseStarted || e.Kind == PhaseFinished }

// A Failure is an item of each that has no output, where the others were kept.
type Failure struct {
	Index   int    `json:"index"` // from 0
	Code    string `json:"code"`
	Message string `json:"message"` // as other phases may read it
}

// PlainFailures are failures as templates read them.
func PlainFailures(list []Failure) []any {
	plain := make([]any, len(list))
	for i, f := range list {
		plain[i] = map[string]any{"index": f.Index, "code": f.Code, "message": f.Message}
	}
	return plain
}

// UnmarshalJSON reads what [Event.MarshalJSON] writes, its values as plain ones.
// A request that goes on with a conversation is cut.
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
	e.Before, e.Cut = called.Before, called.Before > 0
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

// A Verdict is what a check found, with where it stood.
type Verdict struct {
	Path      Path    `json:"path"`
	Phase     string  `json:"phase"`
	Attempt   int     `json:"attempt"`
	Turn      int     `json:"turn"`
	Moment    string  `json:"moment"` // pre, turn, tool, result, post, loop_until or output_schema
	Validator string  `json:"validator"`
	Mode      string  `json:"mode"`  // blocking, retry, advisory or shadow
	Valid     *bool   `json:"valid"` // nil where the validator could not say, or was not asked
	Reason    string  `json:"reason"`
	Error     *string `json:"error"` // why it could not say

	Score    *float64           `json:"score,omitempty"`
	Issues   []validators.Issue `json:"issues,omitempty"`
	Warnings []validators.Issue `json:"warnings,omitempty"`
	Fix      string             `json:"fix,omitempty"`
	Evidence any                `json:"evidence,omitempty"`
	Status   string             `json:"status,omitempty"`
	Details  any                `json:"details,omitempty"`
}

// The moments at which the validators of soundings are asked, whose verdicts say
// post: of a try, and of a winner that is perhaps good enough.
const (
	Filter    = "filter"
	Threshold = "threshold"
)

// Filters tells whether the verdict is that of a sounding's validator.
func (v *Verdict) Filters() bool { return v.Asked() == Filter }

// Asked is the moment at which the check was asked, those of the validators of
// soundings apart from that of the post-wards: they are asked about other texts.
func (v *Verdict) Asked() string {
	if v.Moment != "post" {
		return v.Moment // which may be of a phase that is called so
	}
	switch of := v.Path.Up().Last(); {
	case of == Filter:
		return Filter
	case strings.HasPrefix(of, Threshold+"["): // of a step
		return Threshold
	}
	return v.Moment
}

// Index is where the check stands among those of its moment, from 0.
func (v *Verdict) Index() int {
	_, n, _ := Numbered(v.Path.Last()) // 0 where there is one alone
	return n
}

// Skipped is the status of a verdict on a text that the validator was not asked
// about.
const Skipped = "skipped"

// Skipped tells whether the validator was not asked: it said neither yes nor no,
// and nothing broke. A Status alone does not tell, which a validator may choose.
func (v *Verdict) Skipped() bool { return v.Valid == nil && v.Error == nil }

// Noted tells whether the check's no, and that it could not say, was noted alone.
func (v *Verdict) Noted() bool { return v.Mode == "advisory" || v.Mode == "shadow" }

// Found is the verdict as the validator gave it, or why it could not say. Of one
// that was not asked it is no verdict either.
func (v *Verdict) Found() (validators.Verdict, error) {
	switch {
	case v.Error != nil:
		return validators.Verdict{}, errors.New(*v.Error)
	case v.Valid == nil:
		return validators.Verdict{}, errors.New(v.Reason)
	}
	return validators.Verdict{Valid: *v.Valid, Reason: v.Reason, Score: v.Score, Issues: v.Issues, Warnings: v.Warnings, Fix: v.Fix}, nil
}

// An Answer is what a person said to a question of a run.
type Answer struct {
	Path     Path   `json:"path"`
	Phase    string `json:"phase"`
	Question string `json:"question"`
	Value    any    `json:"value"`             // nil where it has expired, and of a result where it was a text that was changed
	By       string `json:"by,omitempty"`      // who says to have given it, which nobody has looked at
	Expired  bool   `json:"expired,omitempty"` // nobody has answered in time
}

// maxName bounds a name that is kept with an answer, in characters.
const maxName = 100

// Signature is a name as it is kept with an answer: one line of characters that
// show, of at most 100.
func Signature(name string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(name, ""), func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	name = strings.Join(words, " ")
	if r := []rune(name); len(r) > maxName {
		name = strings.TrimSpace(string(r[:maxName-1])) + "…"
	}
	return name
}

// Told is the answer as a result has it: without a text that was changed, which
// may have been refused. What was released is the phase's output.
func (a Answer) Told() Answer {
	if strings.HasSuffix(string(a.Path), "/question") && strings.Contains(string(a.Path), "/human_input/attempt[") {
		a.Value = nil
	}
	return a
}

// Expired is the status of an [Answered] that tells that there was no answer in
// time.
const Expired = "expired"

// An Error is why a run did not succeed.
type Error struct {
	Code    string `json:"code"`
	Phase   string `json:"phase"`
	Message string `json:"message"`

	Position Position `json:"position,omitzero"` // of what ended the run in its file; zero where it has no place there
}

// String gives phase, code and message, of those what there is.
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

// A Position is a place in a file, from line 1, column 1 (in characters).
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String gives file:line:column, "" of none.
func (p Position) String() string {
	if p.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// A Sink takes events. It is called from one goroutine at a time, in the order
// of Seq, and must not keep or change what the event points to beyond reading.
type Sink interface {
	Emit(Event)
}

// Func makes a function a [Sink].
type Func func(Event)

// Emit calls f.
func (f Func) Emit(e Event) { f(e) }

// Weight is about how many bytes a plain value takes in memory.
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
