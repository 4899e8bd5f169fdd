package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Question is a question to a person.
type Question struct {
	Path    event.Path `json:"-"` // the unique key of the question in the run
	Phase   string     `json:"phase"`
	Prompt  string     `json:"prompt"`
	Type    string     `json:"type"` // confirmation, choice, text or edit
	Options []string   `json:"options,omitempty"`
	Result  bool       `json:"result,omitempty"` // the first option may include a result: "done: 42"
	Text    string     `json:"text,omitempty"`   // for an edit: the text to change

	Subject *trace.Subject `json:"-"` // the text that the question is about; nil if there is none

	Expires time.Duration `json:"-"` // time limit from the first request; 0 means none
	Notice  *Notice       `json:"-"` // to send once; nil if nothing is to be sent
}

// An Asked is an open question of a run.
type Asked struct {
	Path     event.Path `json:"path"` // the key that an answer names
	Question Question   `json:"question"`
	Until    time.Time  `json:"until,omitzero"` // when it expires; zero for never
}

// A Notice is a message about a question. A host sends it without waiting for
// the result.
type Notice struct {
	To      *cascades.Notify
	Run     string
	Path    event.Path
	Key     string          // equal if a notice is sent again after a crash
	Expires time.Time       // zero for never
	Done    func(err error) // receives the result of the delivery; may be nil
}

// Problem returns the reason why a value does not answer the question, or "" if
// it does.
func (q Question) Problem(value any) string {
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

// ParseAnswer converts a person's text to an answer: yes becomes true, and a
// number becomes the option with that number, from 1. An option with the text
// as its name comes first.
func (q Question) ParseAnswer(text string) any {
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

// maxAnswer is the maximum length of an answer, in bytes.
const maxAnswer = 8 << 20

// An Answer is a person's answer: a boolean for a confirmation, otherwise text.
type Answer struct {
	Value any    `json:"value"`
	By    string `json:"by,omitempty"` // the unverified name of the person

	Expired bool `json:"expired,omitempty"` // nobody answered in time
}

// WithCleanName returns the answer with its name in the stored form, see
// [event.CleanName].
func (a Answer) WithCleanName() Answer { a.By = event.CleanName(a.By); return a }
