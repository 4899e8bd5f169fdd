package schedule

import (
	"math"
	"time"

	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// A certificate is the statement of layer 3 about a schedule. It includes
// everything that the decision depends on, so it is valid for one database,
// policy, week and list of items.
type certificate struct {
	plan   *plan
	back   creatorRecord
	policy *gatePolicy
	at     time.Time
	hash   string // of the items
	score  int
	status string // of the quality gate
	proven bool
	critic map[string]any // the critic's valid statement, or nil

	vault, avoid, critical int
}

func (c certificate) violations() map[string]any {
	return map[string]any{"vault": c.vault, "avoid_tier": c.avoid, "critical": c.critical}
}

// statement returns the unsigned certificate as a plain value.
func (c certificate) statement() map[string]any {
	f, p := c.back.facts, c.plan
	evidence, passed := c.evidence()
	status := c.status
	if !passed {
		status = statusRejected // any gate may reject, whatever the quality gate decides
	}
	return map[string]any{
		statements.VersionField:   statements.Version,
		"creator_id":              f.id,
		"page_type":               f.pageType,
		"is_active":               f.active,
		"week_start":              weekText(p.week),
		"database_id":             c.back.database,
		"policy_digest":           c.policy.digest,
		"validation_timestamp":    c.at.UTC().Format(time.RFC3339),
		"schedule_hash":           c.hash,
		"avoid_types_hash":        namesHash(f.avoid()),
		"vault_types_hash":        namesHash(f.vaultTypes()),
		"items_validated":         len(p.items),
		"expected_items":          p.expectedItems(),
		"caption_pool_limited":    p.limited,
		"quality_score":           c.score,
		"validation_status":       status,
		"violations_found":        c.violations(),
		"upstream_proof_verified": c.proven,
		"evidence":                evidence,
		"checks_performed": map[string]any{
			"vault_compliance": f.known(), "avoid_tier_exclusion": f.known(), "send_type_diversity": true, "timing_validation": true,
			"caption_quality": true, "volume_config": !math.IsNaN(p.confidence),
		},
	}
}

// certificateFields are the fields of a certificate. A certificate with other
// fields has another format.
var certificateFields = map[string]bool{
	statements.VersionField: true, "creator_id": true, "page_type": true, "is_active": true, "week_start": true, "database_id": true, "policy_digest": true,
	"validation_timestamp": true, "schedule_hash": true, "avoid_types_hash": true, "vault_types_hash": true, "items_validated": true,
	"expected_items": true, "caption_pool_limited": true, "quality_score": true, "validation_status": true, "violations_found": true,
	"upstream_proof_verified": true, "evidence": true, "checks_performed": true, statements.KeyIDField: true, statements.SignatureField: true,
}

// weekText returns a week in the form of statements, or nil if there is none.
func weekText(week int) any {
	if week == noDay {
		return nil
	}
	return dateText(week)
}

// expectedItems returns the expected number of items for each day of the week,
// by date. Saving compares the volumes with it.
func (p *plan) expectedItems() map[string]any {
	days := map[string]any{}
	if p.week == noDay {
		return days
	}
	for day := p.week; day < p.week+7; day++ {
		if n := p.expected.of(day); !math.IsNaN(n) {
			days[dateText(day)] = n
		}
	}
	return days
}

// expectedBy returns the expected number of items per day from a certificate.
func expectedBy(c map[string]any) volumes {
	v := noVolumes()
	days, _ := c["expected_items"].(map[string]any)
	for date, n := range days {
		at, err := time.Parse(time.DateOnly, date)
		if f, ok := number(n); ok && err == nil {
			v.dates[dayOf(at)] = f
		}
	}
	return v
}
