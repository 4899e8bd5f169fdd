package validators

import (
	"context"
	"fmt"
)

// Excludes accepts text that has another text nowhere in it.
var Excludes = New("excludes", "Validates that the text does not contain a given text",
	func(_ context.Context, p substring, s Subject) (Verdict, error) {
		found := findings{check: "excludes"}
		if line := p.line(s.Content); line > 0 {
			found.add(fmt.Sprintf("line %d", line), "the text contains %s", quote(p.Text))
		}
		return found.verdict("the text does not contain " + quote(p.Text)), nil
	})
