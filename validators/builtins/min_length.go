package builtins

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
)

type minLength struct {
	Min int `json:"min" jsonschema:"minimum number of characters"`
}

// Prepare implements [validators.Prepared].
func (p *minLength) Prepare() error {
	if p.Min < 1 {
		return errors.New("min must be at least 1")
	}
	return nil
}

// minLengthValidator accepts text of at least min characters.
var minLengthValidator = validators.New("min_length", "Validates that the text is not shorter than min characters",
	func(_ context.Context, p minLength, s validators.Subject) (validators.Verdict, error) {
		return judgeCount(utf8.RuneCountInString(s.Content), p.Min, 0, "character"), nil
	})
