package validators

import (
	"context"
	"fmt"
	"regexp"
)

type patternParams struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression in RE2 syntax, as Go has it; (?i) (?m) (?s) set flags"`
	MustNot bool   `json:"must_not,omitempty" jsonschema:"true: the pattern must not match anywhere"`

	re *regexp.Regexp
}

// Prepare implements [Prepared].
func (p *patternParams) Prepare() (err error) {
	if p.re, err = regexp.Compile(p.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

// Regexp accepts text in which a pattern matches somewhere, or with must_not
// nowhere. Time is linear in the text whatever the pattern.
var Regexp = New("regexp", "Validates that a pattern matches the text, or with must_not that it does not",
	func(_ context.Context, p patternParams, s Subject) (Verdict, error) {
		at := p.re.FindStringIndex(s.Content)
		if at == nil && !p.MustNot {
			return Fail("the text does not match the pattern %s", quote(p.Pattern)), nil
		}
		found := findings{check: "regexp"}
		if at != nil && p.MustNot {
			found.add(lineAt(s.Content, at[0]), "%s matches the pattern %s", quote(s.Content[at[0]:at[1]]), quote(p.Pattern))
		}
		return found.verdict("as the pattern demands"), nil
	})
