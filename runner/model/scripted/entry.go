package scripted

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/model"
)

// An entry is one answer, with the filters for requests.
type entry struct {
	at string // file:line

	phase, validator, role, contains string
	attempt, turn                    *int

	reply     string
	toolCalls []model.ToolCall
	failure   *model.Failure
	usage     *model.Usage
	delay     time.Duration

	times  int
	always bool
}

// mismatch returns the filter that does not match the request, or "".
func (e *entry) mismatch(r model.Request) string {
	switch {
	case e.validator != r.Validator && e.validator == "":
		return fmt.Sprintf("has no validator, and the judge %s calls", r.Validator)
	case e.validator != r.Validator:
		return "validator is " + e.validator
	case e.role != r.Role && e.role == "":
		return fmt.Sprintf("has no role, and the %s calls", r.Role)
	case e.role != r.Role:
		return "role is " + e.role
	case e.phase != "" && e.phase != r.Phase:
		return "phase is " + e.phase
	case e.attempt != nil && *e.attempt != r.Attempt:
		return fmt.Sprintf("attempt is %d", *e.attempt)
	case e.turn != nil && *e.turn != r.Turn:
		return fmt.Sprintf("turn is %d", *e.turn)
	case e.contains != "" && !contains(r, e.contains):
		return fmt.Sprintf("the request does not contain %q", clips.Sized(e.contains, 80))
	}
	return ""
}

// contains reports whether the text is in a message or a tool call of the
// request.
func contains(r model.Request, text string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Content, text) {
			return true
		}
		for _, c := range m.ToolCalls {
			if strings.Contains(c.Name, text) || strings.Contains(c.Arguments, text) {
				return true
			}
		}
	}
	return false
}

// describe returns the position of the entry, its filters and its remaining
// uses.
func (e *entry) describe(left int) string {
	text := e.at + ": " + e.filters()
	switch {
	case e.always:
		return text + " (always)"
	case e.times > 1:
		return fmt.Sprintf("%s (%d of %d left)", text, left, e.times)
	}
	return text
}

func (e *entry) filters() string {
	var list []string
	add := func(name, value string) {
		if value != "" {
			list = append(list, name+" "+value)
		}
	}
	add("phase", e.phase)
	add("validator", e.validator)
	add("role", e.role)
	if e.attempt != nil {
		add("attempt", fmt.Sprint(*e.attempt))
	}
	if e.turn != nil {
		add("turn", fmt.Sprint(*e.turn))
	}
	if e.contains != "" {
		add("contains", fmt.Sprintf("%q", clips.Sized(e.contains, 80)))
	}
	if len(list) == 0 {
		return "any phase"
	}
	return strings.Join(list, ", ")
}
