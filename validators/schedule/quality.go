package schedule

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// A qualityContext is the other input of the quality gate, besides the schedule
// and the database.
type qualityContext struct {
	sign    *signatures.Key
	trusted signatures.Keys // for the critic's decision
	refused string          // reason why nothing is signed despite a key
	now     time.Time
}

// quality is the gate of layer 3: all hard and soft gates, the proof of layer
// 2, the score, and a certificate of the result.
func (r *report) quality(plan *plan, b creatorRecord, at qualityContext) validators.Verdict {
	f := b.facts
	hash := make(chan string, 1)
	go func() { hash <- itemsHash(plan.items) }() // runs concurrently with the gates
	proven := false
	r.captionNumbers(plan, b)
	if r.checkCreator(plan, f) {
		r.vaultGate(plan, f)
		r.pageGate(plan, f)
		proven = r.proofGate(plan, f)
	}
	u := plan.usage()
	r.diversityGate(u, diversityHard)
	r.categoryGate(u, f.pageType)
	r.strategyGate(plan)
	r.weekGate(plan)
	r.captionGates(plan)
	r.confidenceGate(plan)
	score := r.score(plan)
	status := r.judgeScore(score)
	c := certificate{
		plan: plan, back: b, policy: r.policy, at: at.now, hash: <-hash, score: score, status: status, proven: proven,
		vault: r.counts[vaultRule], avoid: r.counts[avoidRule], critical: r.critical,
	}
	critic := "the policy has no critic"
	if r.policy.hasGate(criticGate) {
		c.critic, critic = r.policy.criticDecision(plan, f, c.hash, at.trusted)
	}
	statement := c.statement()
	if !statements.Seal(statements.Certificate, at.sign, statement) {
		r.add(unsignedRule, finding{at: "validation_certificate", message: cmp.Or(at.refused, "no signing key is configured") + ", so the gatekeeper will not take the certificate"})
	}
	v := r.verdict(status, fmt.Sprintf("quality score %d: %s", score, status), map[string]any{
		"validation_status": status, "quality_score": score, "violations_found": c.violations(),
		"unique_send_types": u.types, "unique_strategies": len(plan.strategies), "upstream_proof_verified": proven,
		"validation_certificate": statement, "critic": cmp.Or(critic, "the signed decision is good"),
	})
	share := float64(score) / 100
	v.Score = &share
	return v
}

// score returns max(0, 100 − 10·critical − 2·other − c − s).
func (r *report) score(p *plan) int {
	l := r.policy.Limits
	score := 100 - l.DeductCritical*r.critical - l.DeductOther*r.other
	switch {
	case p.confidence < l.ConfidenceLow:
		score -= l.DeductVeryLow
	case p.confidence < l.ConfidenceModerate:
		score -= l.DeductLow
	}
	if len(p.strategies) < l.MinStrategies {
		score -= l.DeductStrategies
	}
	return max(0, score)
}

// judgeScore returns the schedule's status: that of the score, unless a hard
// gate failed or a finding requires a person.
func (r *report) judgeScore(score int) string {
	l := r.policy.Limits
	switch {
	case score < l.ReviewScore:
		r.add(scoreLow, finding{
			at: "", message: fmt.Sprintf("quality score %d, below %d", score, l.ReviewScore),
			expected: fmt.Sprintf("at least %d", l.ReviewScore), got: strconv.Itoa(score),
		})
	case score < l.ApproveScore:
		r.add(scoreReview, finding{message: fmt.Sprintf("quality score %d, below %d: a person should look", score, l.ApproveScore), expected: fmt.Sprintf("at least %d", l.ApproveScore), got: strconv.Itoa(score)})
	}
	switch {
	case r.rejected():
		return statusRejected
	case r.status == statusNeedsReview:
		return statusNeedsReview
	}
	return statusApproved
}
