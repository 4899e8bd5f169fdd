package validators

import (
	"context"
	"errors"
	"unicode/utf8"
)

type maxLength struct {
	Max int `json:"max" jsonschema:"most characters"`
}

// Prepare implements [Prepared].
func (p *maxLength) Prepare() error {
	if p.Max < 1 {
		return errors.New("max must be at least 1")
	}
	return nil
}

// MaxLength accepts text of at most max characters.
var MaxLength = New("max_length", "Validates that the text is not longer than max characters",
	func(_ context.Context, p maxLength, s Subject) (Verdict, error) {
		return judgeCount(utf8.RuneCountInString(s.Content), 0, p.Max, "character"), nil
	})
