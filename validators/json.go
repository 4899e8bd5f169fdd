package validators

import (
	"context"

	"github.com/seed61713e19/capstan/validators/schema"
)

type jsonParams struct {
	Embedded bool `json:"embedded,omitempty" jsonschema:"true: the JSON may stand in a fence or in prose"`
}

// JSON accepts text that is one JSON document, or with embedded one that has a
// JSON object or array in it.
var JSON = New("json", "Validates that the text is well-formed JSON",
	func(_ context.Context, p jsonParams, s Subject) (Verdict, error) {
		var err error
		if p.Embedded {
			_, _, err = schema.Extract(s.Content, nil)
		} else {
			_, err = schema.Parse([]byte(s.Content))
		}
		if err != nil {
			return Fail("the text is not JSON: %v", err), nil
		}
		return Pass("the JSON is well formed"), nil
	})
