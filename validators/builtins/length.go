package builtins

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

type lengthLimits struct {
	Min int `json:"min,omitempty" jsonschema:"minimum number of characters. 0: no limit"`
	Max int `json:"max,omitempty" jsonschema:"maximum number of characters. 0: no limit"`
}

// Prepare implements [validators.Prepared].
func (p *lengthLimits) Prepare() error { return checkLimits(p.Min, p.Max) }

// lengthCheckValidator accepts text of min to max characters. A byte that is not UTF-8
// counts as a character.
var lengthCheckValidator = validators.New("length_check", "Validates that the text has between min and max characters",
	func(_ context.Context, p lengthLimits, s validators.Subject) (validators.Verdict, error) {
		return judgeCount(utf8.RuneCountInString(s.Content), p.Min, p.Max, "character"), nil
	})

// checkLimits returns an error for limits that no text, or every text, meets.
func checkLimits(low, high int) error {
	switch {
	case low < 0 || high < 0:
		return errors.New("min and max must not be negative")
	case low == 0 && high == 0:
		return errors.New("set min, max or both")
	case high > 0 && low > high:
		return errors.New("min is greater than max")
	}
	return nil
}

// judgeCount returns the verdict for a number of units between two limits. The limit 0 means no
// limit.
func judgeCount(n, low, high int, unit string) validators.Verdict {
	var v validators.Verdict
	var expected string
	switch {
	case n < low:
		v, expected = validators.Fail("the text has %s, fewer than %d", reports.Count(n, unit), low), "at least "+reports.Count(low, unit)
	case high > 0 && n > high:
		v, expected = validators.Fail("the text has %s, more than %d", reports.Count(n, unit), high), "at most "+reports.Count(high, unit)
	default:
		return validators.Verdict{Valid: true, Reason: "the text has " + reports.Count(n, unit)}
	}
	v.Issues = []validators.Issue{{Check: "length", Severity: "error", Message: v.Reason, Expected: expected, Got: reports.Count(n, unit)}}
	return v
}
