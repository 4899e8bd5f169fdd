package builtins

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/validators"
)

// excludesValidator accepts text that does not contain another text.
var excludesValidator = validators.New("excludes", "Validates that the text does not contain a given text",
	func(_ context.Context, p substring, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "excludes"}
		if line := p.line(s.Content); line > 0 {
			found.add(fmt.Sprintf("line %d", line), "the text contains %s", quote(p.Text))
		}
		return found.verdict("the text does not contain " + quote(p.Text)), nil
	})
