package builtins

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

type substring struct {
	Text       string `json:"text" jsonschema:"the text to look for"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"treat upper and lower case, all white space, and typographic and ASCII apostrophes and hyphens as equal"`
}

// Prepare implements [validators.Prepared].
func (p *substring) Prepare() error {
	if p.Text == "" {
		return errors.New("text must not be empty")
	}
	return nil
}

// line returns the first line of the content that contains the text, from 1. It
// returns 0 if there is none.
func (p substring) line(content string) int {
	if sought := foldEnds(p.Text).text; p.IgnoreCase && sought != "" {
		f := foldEnds(content)
		if i := strings.Index(f.text, sought); i >= 0 {
			return f.line(i)
		}
		return 0
	}
	before, _, found := strings.Cut(content, p.Text)
	if !found {
		return 0
	}
	return strings.Count(before, "\n") + 1
}

// containsValidator accepts text that contains another text.
var containsValidator = validators.New("contains", "Validates that the text contains a given text",
	func(_ context.Context, p substring, s validators.Subject) (validators.Verdict, error) {
		if p.line(s.Content) == 0 {
			return validators.Fail("the text does not contain %s", quote(p.Text)), nil
		}
		return validators.Pass("the text contains %s", quote(p.Text)), nil
	})
