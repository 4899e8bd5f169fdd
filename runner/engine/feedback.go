package engine

import (
	"math"

	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// refused sends the reasons why an attempt was refused to the author.
func (t *try) refused(failed []wards.Outcome) error {
	t.reasons, t.broken = messages.Reasons(failed), messages.SchemaReason(failed)
	return t.feedback(t.attempt, failed, (*exchanges.Conversation).MarkRejected)
}

// feedback sends the author the reasons of all failed checks of the n-th
// attempt or turn. It marks the text as refused. If the phase keeps only the
// last refused text, feedback removes the earlier ones.
func (t *try) feedback(n int, failed []wards.Outcome, mark func(*exchanges.Conversation)) error {
	if t.talk == nil {
		return nil
	}
	text, err := t.retryMessage(n, failed)
	if err != nil {
		return unreadable(t.place().at, "retry_instructions", err)
	}
	rules := t.p.Rules.Feedback
	if rules.MaxChars > 0 {
		text = messages.Shortened(text, rules.MaxChars)
	}
	t.emit(event.Event{Kind: event.Feedback, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt, Message: text})
	t.talk.Append(model.Message{Role: model.User, Content: text})
	mark(t.talk)
	if rules.KeepLast {
		t.delta.Truncate(t.talk.KeepLast())
	}
	return nil
}

// retryMessage returns the feedback text for the failed checks of the n-th
// attempt or turn.
func (t *try) retryMessage(n int, failed []wards.Outcome) (string, error) {
	var r reader = shipped{}
	if t.p.Rules.RetryInstructions != nil {
		r = t.p.Rules.RetryInstructions
	}
	vars := t.vars(r)
	vars["validation_error"] = messages.Reasons(failed)
	vars["schema_error"] = messages.SchemaReason(failed)
	vars["attempt"], vars["max_attempts"] = n, t.allowed(n, failed)
	if t.p.Rules.RetryInstructions != nil {
		return t.p.Rules.RetryInstructions.Render(vars)
	}
	checks := messages.FailedChecks(failed)
	if len(checks) == 0 {
		return messages.Prompt("loop_until_silent", vars)
	}
	list, err := messages.Prompt("failed_checks", map[string]any{"checks": checks})
	if err != nil {
		return "", err
	}
	vars["checks"], vars["failed"], vars["silent"] = checks, list, len(checks) < len(failed)
	return messages.Prompt("retry_feedback", vars)
}

// allowed returns how many attempts the failed checks allow in total, n of
// which are used.
func (t *try) allowed(n int, failed []wards.Outcome) int {
	least := math.MaxInt
	for _, o := range failed {
		least = min(least, o.Ward.MaxAttempts)
	}
	if t.p.Rules.Capped && failed[0].Ward.Moment != wards.Turn {
		least = min(least, t.p.Rules.MaxAttempts)
	}
	return max(least, n+1) // each check counts its own failures, and this text is sent back
}

// contract returns the verdict for a list of schema violations.
func contract(broken []schema.Violation) validators.Verdict {
	if len(broken) == 0 {
		return validators.Pass("follows the schema")
	}
	return validators.FailWith(validators.Violations(broken)...)
}
