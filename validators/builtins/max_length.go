package builtins

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
)

type maxLength struct {
	Max int `json:"max" jsonschema:"most characters"`
}

// Prepare implements [validators.Prepared].
func (p *maxLength) Prepare() error {
	if p.Max < 1 {
		return errors.New("max must be at least 1")
	}
	return nil
}

// MaxLength accepts text of at most max characters.
var MaxLength = validators.New("max_length", "Validates that the text is not longer than max characters",
	func(_ context.Context, p maxLength, s validators.Subject) (validators.Verdict, error) {
		return judgeCount(utf8.RuneCountInString(s.Content), 0, p.Max, "character"), nil
	})
