package builtins

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

type jsonParams struct {
	Embedded bool `json:"embedded,omitempty" jsonschema:"true: the JSON may be in a code fence or in prose"`
}

// jsonValidator accepts text that is one JSON document. With embedded, it accepts text
// that contains a JSON object or array.
var jsonValidator = validators.New("json", "Validates that the text is well-formed JSON",
	func(ctx context.Context, p jsonParams, s validators.Subject) (validators.Verdict, error) {
		var err error
		if p.Embedded {
			_, _, err = schema.ExtractShared(ctx.Err, reading.Shared(ctx), s.Content, nil)
		} else {
			_, err = schema.Parse([]byte(s.Content))
		}
		if errors.Is(err, schema.ErrUnchecked) {
			return validators.Verdict{}, err
		}
		if err != nil {
			return validators.Fail("the text is not JSON: %v", err), nil
		}
		return validators.Pass("the JSON is well formed"), nil
	})
