package builtins

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
)

type patternParams struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression in RE2 syntax, as Go has it; (?i) (?m) (?s) set flags"`
	MustNot bool   `json:"must_not,omitempty" jsonschema:"true: the pattern must not match anywhere"`

	pattern patterns.Pattern
}

// maxMatching is how many bytes times instructions of a pattern are matched: ten
// seconds on most, and four times that at worst.
const maxMatching = 4_000_000_000

// Prepare implements [validators.Prepared].
func (p *patternParams) Prepare() (err error) {
	if p.pattern, err = patterns.Compile(p.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

// Regexp accepts text in which a pattern matches somewhere, or with must_not
// nowhere. Time is linear in the text whatever the pattern; where its
// bytes times the pattern's instructions would take minutes, it is an error.
var Regexp = validators.New("regexp", "Validates that a pattern matches the text, or with must_not that it does not",
	func(_ context.Context, p patternParams, s validators.Subject) (validators.Verdict, error) {
		if len(s.Content)*p.pattern.Size() > maxMatching {
			return validators.Verdict{}, fmt.Errorf("a text of %d bytes is too large to check against a pattern of %d instructions", len(s.Content), p.pattern.Size())
		}
		matches := p.pattern.Match(s.Content)
		if !matches && !p.MustNot {
			return validators.Fail("the text does not match the pattern %s", quote(p.Pattern)), nil
		}
		found := findings{check: "regexp"}
		if matches && p.MustNot {
			at := p.pattern.Find(s.Content)
			found.add(lineAt(s.Content, at[0]), "%s matches the pattern %s", quote(s.Content[at[0]:at[1]]), quote(p.Pattern))
		}
		return found.verdict("as the pattern demands"), nil
	})
