package builtins

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/validators"
)

type patternParams struct {
	Pattern string `json:"pattern" jsonschema:"regular expression in RE2 syntax. (?i) (?m) (?s) set flags"`
	MustNot bool   `json:"must_not,omitempty" jsonschema:"true: the pattern must not match anywhere"`

	pattern patterns.Pattern
}

// Prepare implements [validators.Prepared].
func (p *patternParams) Prepare() (err error) {
	if p.pattern, err = patterns.Compile(p.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

// regexpValidator accepts a text in which a pattern matches. With the parameter must_not, it
// accepts a text without a match. The work is limited: beyond [patterns.Budget] the check returns
// an error.
var regexpValidator = validators.New("regexp", "Validates that a pattern matches the text, or does not match it (must_not)",
	func(ctx context.Context, p patternParams, s validators.Subject) (validators.Verdict, error) {
		at, err := p.pattern.FindWithin(patterns.NewBudget(ctx.Err), s.Content)
		if err != nil {
			return validators.Verdict{}, fmt.Errorf("pattern %s: %w", quote(p.Pattern), err)
		}
		if at == nil && !p.MustNot {
			return validators.Fail("the text does not match the pattern %s", quote(p.Pattern)), nil
		}
		found := findings{check: "regexp"}
		if at != nil && p.MustNot {
			found.add(lineAt(s.Content, at[0]), "%s matches the pattern %s", quote(s.Content[at[0]:at[1]]), quote(p.Pattern))
		}
		return found.verdict("as the pattern demands"), nil
	})
