package schedule

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// evidence returns the verdict of each gate of the policy that checks the
// items, with a digest of its input, and whether all of them passed. The
// critic's verdict is not computed here: its evidence is its own signed
// statement.
func (c certificate) evidence() (map[string]any, bool) {
	p, verdicts := c.plan, map[string]any{}
	sound, passed := c.plan.sound, true
	note := func(gate string, v validators.Verdict, saw map[string]any) {
		if !c.policy.hasGate(gate) {
			return
		}
		v.Valid = v.Valid && sound
		passed = passed && v.Valid
		saw["schedule_hash"] = c.hash
		verdicts[gate] = map[string]any{"valid": v.Valid, "status": v.Status, "saw": statements.Digest(saw)}
	}
	vault, avoid := namesHash(c.back.facts.vaultTypes()), namesHash(c.back.facts.avoid())
	note(selectionGate, decided(c.vault+c.avoid == 0 && c.proven), map[string]any{"vault_types_hash": vault, "avoid_types_hash": avoid, "validation_proof": p.proof})
	note(qualityGate, validators.Verdict{Valid: c.status != statusRejected, Status: c.status}, map[string]any{
		"vault_types_hash": vault, "avoid_types_hash": avoid, "page_type": c.back.facts.pageType, "week_start": weekText(p.week), "validation_proof": p.proof,
		"strategies": plainTexts(p.strategies), "confidence_score": optionalNumber(p.confidence), "caption_pool_limited": p.limited,
	})
	if c.policy.hasGate(varietyGate) {
		note(varietyGate, newReport(c.policy).variety(p), map[string]any{})
	}
	if c.policy.hasGate(anomalyGate) {
		note(anomalyGate, newReport(c.policy).anomaly(p, c.back), map[string]any{
			"week_start": weekText(p.week), "expected_items": p.expectedItems(), "prices": c.back.history.prices.plain(),
			"content_types": plainTexts(slices.Sorted(maps.Keys(c.back.types))),
		})
	}
	if c.critic != nil {
		approved := c.critic[decisionField] == decisionApprove
		note(criticGate, decided(approved), map[string]any{"critic_certificate": c.critic})
	}
	return verdicts, passed
}

func decided(valid bool) validators.Verdict {
	if valid {
		return validators.Verdict{Valid: true, Status: statusApproved}
	}
	return validators.Verdict{Status: statusRejected}
}

// plain returns a sample as numbers.
func (s sample) plain() map[string]any {
	return map[string]any{"n": s.n, "mean": s.average(), "sigma": s.deviation()}
}

// itemGates are the gates whose evidence a certificate must contain if the
// policy has them.
var itemGates = []string{selectionGate, varietyGate, criticGate, qualityGate, anomalyGate}

// checkEvidence checks that every gate of the policy has passed.
func (g gatekeeper) checkEvidence(r *report, c map[string]any) {
	verdicts, _ := c["evidence"].(map[string]any)
	for _, gate := range itemGates {
		field := "evidence." + gate
		one, _ := verdicts[gate].(map[string]any)
		saw, _ := one["saw"].(string)
		switch {
		case !g.policy.hasGate(gate):
		case one == nil && gate == criticGate:
			r.certificate(certificateEvidence, field, "is missing: quality was given no signed decision of the critic on these items", "the critic's decision", nil)
		case one == nil:
			r.certificate(certificateEvidence, field, "is missing: the policy has that gate", "its verdict", nil)
		case one["valid"] != true:
			r.certificate(certificateStatus, field, "is a no", "a yes", one["status"])
		case len(saw) != len("sha256:")+64 || !strings.HasPrefix(saw, "sha256:"):
			r.certificate(certificateEvidence, field, "does not say what the gate saw", "a digest", one["saw"])
		}
	}
}
