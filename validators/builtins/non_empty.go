package builtins

import (
	"context"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/validators"
)

// nonEmptyValidator accepts text with at least one visible character. White space and
// characters without a shape do not count.
var nonEmptyValidator = validators.New("non_empty", "Validates that the text is not empty",
	func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		if strings.IndexFunc(s.Content, visible) < 0 {
			return validators.Fail("the text is empty"), nil
		}
		return validators.Pass("the text is not empty"), nil
	})

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !isBlank(r) }

// isBlank reports whether a letter or symbol prints as nothing.
func isBlank(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, unicode.ReplacementChar:
		return true
	}
	return r >= 0xFE00 && r <= 0xFE0F || r == 0x034F
}
