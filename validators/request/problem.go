package request

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/reports"
)

// A Problem is one place where a message breaks the protocol.
type Problem struct {
	Field   string `json:"field"` // criteria_results[0].status; empty for the message as a whole
	Message string `json:"message"`
}

// String is the problem in a line: field, message.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// A ProtocolError lists the problems of a text that is not a message of the
// protocol: at most 50, in a stable order.
type ProtocolError struct {
	Of       string    `json:"of"` // the expected message: validation request
	Problems []Problem `json:"problems"`
}

// Error names every field that is wrong, in words for who wrote the message.
func (e *ProtocolError) Error() string {
	words := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		words[i] = p.String()
	}
	return e.Of + ": " + strings.Join(words, "; ")
}

// maxProblems limits the problems of one message, which go into a prompt.
const maxProblems = 50

// problems collects the problems of a message, one for each field.
type problems struct {
	list []Problem
	seen map[string]bool
}

func (p *problems) add(field, format string, args ...any) {
	field = brief(field)
	if len(p.list) == maxProblems || p.seen[field] {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[field] = true
	p.list = append(p.list, Problem{field, clean(fmt.Sprintf(format, args...), maxText)})
}

// err returns an error with the problems, or nil.
func (p *problems) err(of string) error {
	if len(p.list) == 0 {
		return nil
	}
	return &ProtocolError{Of: of, Problems: p.list}
}

// maxText is the longest text that is taken over from a message into a reason,
// in characters.
const maxText = 600

func clean(s string, most int) string { return reports.Fit(s, most) }

// brief is clean for an id, a path or a name in passing.
func brief(s string) string { return clean(s, 120) }

// quoted is a text in quotes, with the blanks around it that make it another.
func quoted(s string) string { return strconv.Quote(clips.Chars(s, 120)) }

// criteria counts criteria: "1 criterion", "2 criteria".
func criteria(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return fmt.Sprintf("%d criteria", n)
}
