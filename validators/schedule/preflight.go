package schedule

import (
	"context"
	"fmt"
	"strconv"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

// preflightData is the data for the preflight gate.
type preflightData struct {
	facts    facts
	captions int // number that layer 1 allows, up to the required minimum
	persona  bool
	messages bool
}

func (db *DB) preflightData(ctx context.Context, creator string, p *gatePolicy) (s preflightData, err error) {
	err = db.reading(ctx, func(t tx) error {
		if s.facts, err = t.facts(creator); err != nil || !s.facts.known() {
			return err
		}
		id := s.facts.id
		if s.captions, err = t.surviving(id, p.Limits.MinCaptions); err != nil {
			return err
		}
		if s.persona, err = t.any("creator_personas", id); err != nil {
			return err
		}
		s.messages, err = t.any("mass_messages", id)
		return err
	})
	return s, err
}

// any reports whether a table has a row of the creator.
func (t tx) any(table, creator string) (bool, error) {
	var one int
	found, err := t.one("SELECT 1 FROM "+table+" WHERE creator_id = $1 LIMIT 1", []any{creator}, &one)
	if err != nil {
		return false, fmt.Errorf("%s: %w", table, err)
	}
	return found, nil
}

// preflight is the gate of phase 0: five checks of the creator before the run
// spends anything.
func (p *gatePolicy) preflight(creator string, s preflightData) validators.Verdict {
	r, name := newReport(p), reports.Fit(creator, 60)
	checks := []struct {
		rule, at, message string
		ok                bool
	}{
		{creatorInactive, "creators", name + " is inactive", s.facts.active},
		{vaultEmpty, "vault_matrix", "the vault of " + name + " is empty", len(s.facts.vault) > 0},
		{captionsFew, "caption_bank", fmt.Sprintf("%d captions may be used, fewer than %d", s.captions, p.Limits.MinCaptions), s.captions >= p.Limits.MinCaptions},
		{personaMissing, "creator_personas", name + " has no persona", s.persona},
		{analyticsMissing, "mass_messages", "there are no messages of " + name + ": limited analytics", s.messages},
	}
	if !s.facts.known() {
		checks[0].rule, checks[0].message = creatorUnknown, "no creator is called "+strconv.Quote(clip(creator))
	}
	passed := 0
	for _, c := range checks {
		if c.ok {
			passed++
			continue
		}
		r.add(c.rule, finding{at: c.at, message: c.message})
	}
	status, word := statusReady, "READY"
	switch {
	case r.rejected():
		status, word = statusBlocked, "BLOCKED"
	case len(r.warnings) > 0:
		status, word = statusWarning, "WARN"
	}
	return r.verdict(status, name+" is ready", map[string]any{
		"preflight_status": word, "checks_passed": passed, "checks_failed": len(checks) - passed,
		"blockers": coded(r.issues), "warnings": coded(r.warnings),
	})
}

// coded returns findings as texts: "NO_PERSONA: ada has no persona".
func coded(issues []validators.Issue) []any {
	words := make([]any, len(issues))
	for i, issue := range issues {
		words[i] = issue.Check + ": " + issue.Message
	}
	return words
}
