package validators

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/validators/schema"
)

// JSONSchema is the check that the subject's JSON keeps to a schema: its
// Output where that is not nil, else what [schema.Extract] takes out of the
// content. Every violation is an issue, its path the location.
func JSONSchema(s *schema.Schema) Check {
	return guarded("json_schema", func(ctx context.Context, subject Subject) (Verdict, error) {
		var broken []schema.Violation
		var err error
		if subject.Output != nil {
			broken, err = s.Check(ctx.Err, subject.Output)
		} else {
			_, broken, err = schema.Extract(ctx.Err, subject.Content, s)
		}
		if errors.Is(err, schema.ErrUntold) {
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

// Violations are the issues of a value that breaks a schema in these places.
func Violations(broken []schema.Violation) []Issue {
	issues := make([]Issue, len(broken))
	for i, b := range broken {
		issues[i] = Issue{Check: b.Rule, Severity: "error", Message: b.Message, Location: b.Path, Expected: b.Expected, Got: b.Got}
	}
	return issues
}
