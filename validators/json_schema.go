package validators

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/schema"
)

// JSONSchema returns the check of a subject's JSON against a schema. It checks
// the Output of the subject, or, if that is nil, the JSON that [schema.Extract]
// finds in the content. Every violation becomes an issue; its path is the
// location.
func JSONSchema(s *schema.Schema) Check {
	return recovered("json_schema", func(ctx context.Context, subject Subject) (Verdict, error) {
		var broken []schema.Violation
		var err error
		if subject.Output != nil {
			broken, err = s.Check(ctx.Err, subject.Output)
		} else {
			_, broken, err = schema.ExtractShared(ctx.Err, reading.Shared(ctx), subject.Content, s)
		}
		if errors.Is(err, schema.ErrUnchecked) {
			return Verdict{}, err
		}
		if err != nil {
			return Fail("%v", err), nil
		}
		if len(broken) == 0 {
			return Pass("the JSON keeps to the schema"), nil
		}
		return FailWith(Violations(broken)...), nil
	})
}

// Violations returns the violations of a schema as issues of a verdict.
func Violations(broken []schema.Violation) []Issue {
	issues := make([]Issue, len(broken))
	for i, b := range broken {
		issues[i] = Issue{Check: b.Rule, Severity: "error", Message: b.Message, Location: b.Path, Expected: b.Expected, Got: b.Got}
	}
	return issues
}
