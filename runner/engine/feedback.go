package engine

import (
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// retryMessage is what an author is told of the checks that said no.
func (t *try) retryMessage(failed []wards.Outcome) (string, error) {
	var r reader = shipped{}
	if t.p.Rules.RetryInstructions != nil {
		r = t.p.Rules.RetryInstructions
	}
	vars := t.vars(t.turn, r)
	vars["validation_error"] = reasons(failed)
	vars["schema_error"] = schemaReason(failed)
	vars["attempt"], vars["max_attempts"] = t.attempt, t.allowed(failed)
	if t.p.Rules.RetryInstructions != nil {
		return t.p.Rules.RetryInstructions.Render(vars)
	}
	checks := spoken(failed)
	if len(checks) == 0 {
		return prompt("loop_until_silent", vars)
	}
	list, err := prompt("failed_checks", map[string]any{"checks": checks})
	if err != nil {
		return "", err
	}
	vars["checks"], vars["failed"], vars["silent"] = checks, list, len(checks) < len(failed)
	return prompt("retry_feedback", vars)
}

// spoken are the failed checks that say what was wrong.
func spoken(failed []wards.Outcome) []any {
	var checks []any
	for _, o := range failed {
		if !o.Ward.Silent {
			checks = append(checks, described(o))
		}
	}
	return checks
}

// allowed is how many attempts the failed checks leave in all.
func (t *try) allowed(failed []wards.Outcome) int {
	least := 0
	for _, o := range failed {
		if n := o.Ward.MaxAttempts; least == 0 || n < least {
			least = n
		}
	}
	if t.p.Rules.Capped && t.p.Rules.MaxAttempts < least {
		least = t.p.Rules.MaxAttempts
	}
	return max(least, t.attempt+1) // each check counts its own noes, and this text is sent back
}

// described is a failed check as the default feedback shows it.
func described(o wards.Outcome) map[string]any {
	issues := []any{}
	for _, i := range o.Verdict.Issues {
		issue := map[string]any{"path": i.Location, "message": i.Message}
		if i.Expected != "" {
			issue["expected"] = i.Expected
		}
		if i.Got != "" {
			issue["got"] = i.Got
		}
		issues = append(issues, issue)
	}
	return map[string]any{"check": o.Ward.Name, "reason": o.Verdict.Reason, "issues": issues, "fix": o.Verdict.Fix}
}

func schemaReason(failed []wards.Outcome) string {
	for _, o := range failed {
		if o.Ward.Moment == wards.OutputSchema {
			return o.Verdict.Reason
		}
	}
	return ""
}

// contract is the verdict on a value that breaks a schema in these places.
func contract(broken []schema.Violation) validators.Verdict {
	if len(broken) == 0 {
		return validators.Pass("follows the schema")
	}
	return validators.FailWith(validators.Violations(broken)...)
}
