package builtins

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/validators"
)

type keywordRules struct {
	Required  []string `json:"required,omitempty" jsonschema:"required keywords"`
	Forbidden []string `json:"forbidden,omitempty" jsonschema:"keywords that must not appear"`

	required, forbidden []keyword
}

// Prepare implements [validators.Prepared].
func (p *keywordRules) Prepare() (err error) {
	if len(p.Required)+len(p.Forbidden) == 0 {
		return errors.New("set required, forbidden or both")
	}
	p.required, p.forbidden, err = foldBoth(p.Required, p.Forbidden)
	return err
}

// keywordValidator accepts text that contains every required keyword and no
// forbidden one. It finds keywords as [keywordsValidator] does.
var keywordValidator = validators.New("keyword_validator", "Validates that required keywords are mentioned and forbidden ones are not",
	func(_ context.Context, p keywordRules, s validators.Subject) (validators.Verdict, error) {
		text := fold(s.Content)
		found := findings{check: "keyword_validator"}
		missing(&found, text, p.required)
		for _, k := range p.forbidden {
			if i := text.find(k.folded); i >= 0 {
				found.add(fmt.Sprintf("line %d", text.line(i)), "%s is forbidden", quote(k.word))
			}
		}
		return found.verdict("the keywords are as they must be"), nil
	})
