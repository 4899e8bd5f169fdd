package engine

import (
	"math"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// refused sends the reasons why a whole attempt was refused to the author.
func (t *try) refused(failed []wards.Outcome) error {
	t.reasons, t.broken = words.Reasons(failed), words.SchemaReason(failed)
	return t.feedback(t.attempt, failed, (*exchanges.Talk).Refused)
}

// feedback sends the author everything that was wrong at the n-th try, as one more
// message. It marks the try as refused and removes those before it if the phase keeps the
// last one only.
func (t *try) feedback(n int, failed []wards.Outcome, mark func(*exchanges.Talk)) error {
	if t.talk == nil {
		return nil
	}
	text, err := t.retryMessage(n, failed)
	if err != nil {
		return unread(t.place().at, "retry_instructions", err)
	}
	rules := t.p.Rules.Feedback
	if rules.MaxChars > 0 {
		text = words.Shortened(text, rules.MaxChars)
	}
	t.emit(event.Event{Kind: event.Feedback, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt, Message: text})
	t.talk.Append(model.Message{Role: model.User, Content: text})
	mark(t.talk)
	if rules.KeepLast {
		t.told.Back(t.talk.KeepLast())
	}
	return nil
}

// retryMessage is what an author is told of the checks that said no at the n-th try:
// at an attempt, or at a turn.
func (t *try) retryMessage(n int, failed []wards.Outcome) (string, error) {
	var r reader = shipped{}
	if t.p.Rules.RetryInstructions != nil {
		r = t.p.Rules.RetryInstructions
	}
	vars := t.vars(r)
	vars["validation_error"] = words.Reasons(failed)
	vars["schema_error"] = words.SchemaReason(failed)
	vars["attempt"], vars["max_attempts"] = n, t.allowed(n, failed)
	if t.p.Rules.RetryInstructions != nil {
		return t.p.Rules.RetryInstructions.Render(vars)
	}
	checks := words.Spoken(failed)
	if len(checks) == 0 {
		return words.Prompt("loop_until_silent", vars)
	}
	list, err := words.Prompt("failed_checks", map[string]any{"checks": checks})
	if err != nil {
		return "", err
	}
	vars["checks"], vars["failed"], vars["silent"] = checks, list, len(checks) < len(failed)
	return words.Prompt("retry_feedback", vars)
}

// allowed is how many tries the failed checks leave in all, of which this was the
// n-th.
func (t *try) allowed(n int, failed []wards.Outcome) int {
	least := math.MaxInt
	for _, o := range failed {
		least = min(least, o.Ward.MaxAttempts)
	}
	if t.p.Rules.Capped && failed[0].Ward.Moment != wards.Turn {
		least = min(least, t.p.Rules.MaxAttempts)
	}
	return max(least, n+1) // each check counts its own noes, and this text is sent back
}

// contract is the verdict on a value that breaks a schema in these places.
func contract(broken []schema.Violation) validators.Verdict {
	if len(broken) == 0 {
		return validators.Pass("follows the schema")
	}
	return validators.FailWith(validators.Violations(broken)...)
}
