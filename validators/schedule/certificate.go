package schedule

import (
	"math"
	"time"

	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// A certificate is what layer 3 states of a schedule: all that its decision
// rests on, so that another database, policy, week or set of items has another.
type certificate struct {
	plan   *plan
	back   background
	policy *Policy
	at     time.Time
	hash   string // of the items
	score  int
	status string // of the quality gate
	proven bool
	critic map[string]any // the critic's statement, nil where there is none that is good

	vault, avoid, critical int
}

func (c certificate) violations() map[string]any {
	return map[string]any{"vault": c.vault, "avoid_tier": c.avoid, "critical": c.critical}
}

// statement gives the certificate as a plain value, not signed yet.
func (c certificate) statement() map[string]any {
	f, p := c.back.facts, c.plan
	evidence, passed := c.evidence()
	status := c.status
	if !passed {
		status = Rejected // of all gates, whatever the quality gate alone says
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

// certificateFields are all that a certificate has; what has others was made
// for a reader who knows what they mean.
var certificateFields = map[string]bool{
	statements.VersionField: true, "creator_id": true, "page_type": true, "is_active": true, "week_start": true, "database_id": true, "policy_digest": true,
	"validation_timestamp": true, "schedule_hash": true, "avoid_types_hash": true, "vault_types_hash": true, "items_validated": true,
	"expected_items": true, "caption_pool_limited": true, "quality_score": true, "validation_status": true, "violations_found": true,
	"upstream_proof_verified": true, "evidence": true, "checks_performed": true, statements.KeyIDField: true, statements.SignatureField: true,
}

// weekText is a week as statements name it, nil where there is none.
func weekText(week int) any {
	if week == noDay {
		return nil
	}
	return dateText(week)
}

// expectedItems is how many items each day of the week is expected to have, by
// date: what volumes are measured by when the week is saved.
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

// expectedBy reads what a certificate expects of each day.
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
