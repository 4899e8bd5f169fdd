package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Question is put to a person.
type Question struct {
	Phase   string   `json:"phase"`
	Prompt  string   `json:"prompt"`
	Type    string   `json:"type"` // confirmation, choice, text or edit
	Options []string `json:"options,omitempty"`
	Result  bool     `json:"result,omitempty"` // the first option may bring one along: "done: 42"
	Text    string   `json:"text,omitempty"`   // of an edit: what the person is to change

	Expires time.Duration `json:"-"` // how long it waits, from when it was first asked; 0 is for ever
	Notice  *Notice       `json:"-"` // to be given once; nil for none, or where it was given
}

// A Notice is what somebody is told of a question: a host gives it and does not
// wait for what comes of it.
type Notice struct {
	To      *cascades.Notify
	Run     string
	Path    event.Path
	Key     string          // the same where a notice is given twice, since a process was gone in between
	Text    string          // that the question is about
	Expires time.Time       // zero for never
	Done    func(err error) // is told what came of it; may be nil
}

// errExpired is why a phase is left whose question nobody has answered in time.
var errExpired = errors.New("nobody has answered in time")

// Unfit says why a value is no answer to the question, "" where it is one.
func (q Question) Unfit(value any) string {
	text, isText := value.(string)
	_, isBool := value.(bool)
	switch q.Type {
	case cascades.Confirmation:
		if !isBool {
			return "want true or false"
		}
	case cascades.Choice:
		brings := q.Result && strings.HasPrefix(text, q.Options[0]+":")
		if !isText || !brings && !slices.Contains(q.Options, text) {
			return "want one of " + strings.Join(q.Options, ", ")
		}
	default:
		switch {
		case strings.TrimSpace(text) == "":
			return "want a text that is not empty"
		case len(text) > maxAnswer:
			return fmt.Sprintf("want a text of at most %d bytes, not %d", maxAnswer, len(text))
		case !utf8.ValidString(text):
			return "want a text in UTF-8"
		}
	}
	return ""
}

// maxAnswer bounds what a person writes, in bytes.
const maxAnswer = 8 << 20

// An Answer is a person's: a boolean for a confirmation, else text.
type Answer struct {
	Value any    `json:"value"`
	By    string `json:"by,omitempty"` // who says to have given it; nobody has looked, and nothing hangs on it

	Expired bool `json:"expired,omitempty"` // there is none: nobody has given one in time
}

// Signed is the answer as it is kept, under a name as [event.Signature] has it.
func (a Answer) Signed() Answer { a.By = event.Signature(a.By); return a }

// put asks a person; without one the run waits.
func (v *visit) put(at event.Path, q Question) (Answer, error) {
	if q.Notice != nil {
		q.Notice.Run, q.Notice.Path, q.Notice.Key = v.s.RunID, at, v.key(at)
	}
	v.emit(event.Event{Kind: event.Waiting, Path: at, Phase: v.p.Name, Message: q.Prompt})
	answer, err := v.h.Ask(at, q)
	switch {
	case errors.Is(err, ErrSuspended):
		return answer, &Error{Code: Waiting, Path: at, Message: q.Prompt, Err: err}
	case err != nil:
		return answer, err
	}
	if wrong := q.Unfit(answer.Value); wrong != "" && !answer.Expired {
		return answer, failed(at, "the answer is none: %s", wrong)
	}
	told := event.Event{Kind: event.Answered, Path: at, Phase: v.p.Name, Output: answer.Value, By: answer.By}
	if answer.Expired {
		told.Output, told.By, told.Status = nil, "", event.Expired
	}
	v.emit(told)
	given := event.Answer{Path: at, Phase: v.p.Name, Question: q.Prompt, Value: told.Output, By: told.By, Expired: answer.Expired}
	v.s.Answers = append(v.s.Answers, given.Told())
	if answer.Expired {
		return answer, &Error{Code: Failed, Path: at, Check: "human_input", Message: fmt.Sprintf("human_input: nobody has answered within %s", q.Expires), Err: errExpired}
	}
	return answer, nil
}
