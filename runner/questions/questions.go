// Package questions is what a run asks of people, and what it takes for an answer.
// It is pure.
package questions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Question is put to a person.
type Question struct {
	Path    event.Path `json:"-"` // the question's key: no other question of the run has it
	Phase   string     `json:"phase"`
	Prompt  string     `json:"prompt"`
	Type    string     `json:"type"` // confirmation, choice, text or edit
	Options []string   `json:"options,omitempty"`
	Result  bool       `json:"result,omitempty"` // the first option may bring one along: "done: 42"
	Text    string     `json:"text,omitempty"`   // of an edit: what the person is to change

	Expires time.Duration `json:"-"` // how long it waits, from when it was first asked; 0 is for ever
	Notice  *Notice       `json:"-"` // to be given once; nil for none, or where it was given
}

// An Asked is an open question of a run.
type Asked struct {
	Path     event.Path `json:"path"` // its key, which an answer names
	Question Question   `json:"question"`
	Until    time.Time  `json:"until,omitzero"` // when it expires; zero for never
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

// Said is what a person has written as the question takes it: yes is true, and a
// number the option that it counts, from 1, where none is called so itself.
func (q Question) Said(text string) any {
	word := strings.TrimSpace(text)
	switch q.Type {
	case cascades.Edit:
		return text
	case cascades.Confirmation:
		switch strings.ToLower(word) {
		case "true", "yes", "y":
			return true
		case "false", "no", "n":
			return false
		}
	case cascades.Choice:
		if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(q.Options) && !slices.Contains(q.Options, word) {
			return q.Options[n-1]
		}
	}
	return word
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
