package builtins

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
)

type maxLength struct {
	Max int `json:"max" jsonschema:"maximum number of characters"`
}

// Prepare implements [validators.Prepared].
func (p *maxLength) Prepare() error {
	if p.Max < 1 {
		return errors.New("max must be at least 1")
	}
	return nil
}

// maxLengthValidator accepts text of at most max characters.
var maxLengthValidator = validators.New("max_length", "Validates that the text is not longer than max characters",
	func(_ context.Context, p maxLength, s validators.Subject) (validators.Verdict, error) {
		return judgeCount(utf8.RuneCountInString(s.Content), 0, p.Max, "character"), nil
	})
