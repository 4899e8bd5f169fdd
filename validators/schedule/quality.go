package schedule

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// A qualityContext is what the quality gate needs besides the schedule and the
// database.
type qualityContext struct {
	sign    *signatures.Key
	trusted signatures.Keys // that the critic's decision may be signed with
	refused string          // why nothing is signed, although there is a key
	now     time.Time
}

// quality is layer 3: every hard gate, the soft gates, the proof of layer 2,
// the score, and a certificate of all that.
func (r *report) quality(plan *plan, b background, at qualityContext) validators.Verdict {
	f := b.facts
	hash := make(chan string, 1)
	go func() { hash <- itemsHash(plan.items) }() // the gates go on meanwhile
	proven := false
	r.captionNumbers(plan, b)
	if r.knows(plan, f) {
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
	if r.policy.judges(criticGate) {
		c.critic, critic = r.policy.decision(plan, f, c.hash, at.trusted)
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

// score is max(0, 100 − 10·critical − 2·other − c − s).
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

// judgeScore gives the schedule's status: the score's, unless a hard gate was
// broken or a finding asks for a person.
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
	case r.refused():
		return Rejected
	case r.status == NeedsReview:
		return NeedsReview
	}
	return Approved
}
