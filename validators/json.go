package validators

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/validators/schema"
)

type jsonParams struct {
	Embedded bool `json:"embedded,omitempty" jsonschema:"true: the JSON may stand in a fence or in prose"`
}

// JSON accepts text that is one JSON document, or with embedded one that has a
// JSON object or array in it.
var JSON = New("json", "Validates that the text is well-formed JSON",
	func(ctx context.Context, p jsonParams, s Subject) (Verdict, error) {
		var err error
		if p.Embedded {
			var twice []schema.Violation
			if _, twice, err = schema.Extract(ctx.Err, s.Content, nil); len(twice) > 0 {
				err = twice[0]
			}
		} else {
			_, err = schema.Parse([]byte(s.Content))
		}
		if errors.Is(err, schema.ErrUntold) {
			return Verdict{}, err
		}
		if err != nil {
			return Fail("the text is not JSON: %v", err), nil
		}
		return Pass("the JSON is well formed"), nil
	})
