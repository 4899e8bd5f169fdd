package builtins

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

type jsonParams struct {
	Embedded bool `json:"embedded,omitempty" jsonschema:"true: the JSON may stand in a fence or in prose"`
}

// JSON accepts text that is one JSON document, or with embedded one that has a
// JSON object or array in it.
var JSON = validators.New("json", "Validates that the text is well-formed JSON",
	func(ctx context.Context, p jsonParams, s validators.Subject) (validators.Verdict, error) {
		var err error
		if p.Embedded {
			_, _, err = schema.Extract(ctx.Err, s.Content, nil)
		} else {
			_, err = schema.Parse([]byte(s.Content))
		}
		if errors.Is(err, schema.ErrUntold) {
			return validators.Verdict{}, err
		}
		if err != nil {
			return validators.Fail("the text is not JSON: %v", err), nil
		}
		return validators.Pass("the JSON is well formed"), nil
	})
