package model

import (
	"strings"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
)

// WithoutThinking returns the response with the thinking that the model has written
// into its text appended to Thinking, tags included.
func (r Response) WithoutThinking() Response {
	text, cuts := modelmarkup.Cut(r.Text)
	if len(cuts) == 0 {
		return r
	}
	var parts []string
	if r.Thinking != "" {
		parts = append(parts, r.Thinking)
	}
	for _, s := range cuts {
		parts = append(parts, r.Text[s.Start:s.End])
	}
	r.Text, r.Thinking = text, strings.Join(parts, "\n")
	return r
}
