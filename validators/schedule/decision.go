package schedule

import (
	"maps"
	"math"
	"time"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// criticStatement returns the critic's decision about a schedule as an unsigned
// statement. It returns nil for a review without its schedule. m is the
// schedule, and decision are the details of the gate's verdict.
func (p *gatePolicy) criticStatement(m, review, decision map[string]any, now time.Time) map[string]any {
	if m["items"] == nil {
		return nil
	}
	r := newReport(p)
	plan := r.read(m, needSendTypes|needTimes)
	if r.rejected() {
		return nil // a schedule that cannot be read completely has no meaningful hash
	}
	s := map[string]any{
		statements.VersionField: statements.Version, "creator_id": plan.creator, "week_start": weekText(plan.week), "schedule_hash": itemsHash(plan.items),
		"items_reviewed": len(plan.items), "review_timestamp": now.UTC().Format(time.RFC3339), "policy_digest": p.digest, "review_digest": statements.Digest(scoresOf(review)),
	}
	for _, field := range []string{decisionField, "strategic_score", "revenue_aggressiveness", "subscriber_health", "brand_consistency", "major_concerns"} {
		s[field] = decision[field]
	}
	return s
}

// scoresOf returns a review without a schedule around it.
func scoresOf(review map[string]any) map[string]any {
	if !holdsSchedule(review) {
		return review
	}
	own := map[string]any{}
	for _, name := range reviewFields {
		if v, ok := review[name]; ok {
			own[name] = v
		}
	}
	return own
}

// criticDecision returns the critic's statement of a schedule if it is valid:
// about these items, this creator and week, by this policy, and signed by a
// trusted key. Otherwise it returns the reason.
func (p *gatePolicy) criticDecision(plan *plan, f facts, hash string, keys signatures.Keys) (map[string]any, string) {
	s, ok := plan.decision.(map[string]any)
	if !ok {
		return nil, "there is no critic_certificate"
	}
	if s[statements.VersionField] != statements.Version {
		return nil, "the critic_certificate is of another format than " + statements.Version
	}
	if err := statements.Verify(statements.Critic, keys, s); err != nil {
		return nil, "the critic_certificate's signature " + err.Error()
	}
	creator, _ := s["creator_id"].(string)
	switch {
	case s["schedule_hash"] != hash:
		return nil, "the critic_certificate is of other items"
	case creator == "" || creator != plan.creator && creator != f.id && creator != f.pageName:
		return nil, "the critic_certificate is of another creator"
	case s["week_start"] != weekText(plan.week):
		return nil, "the critic_certificate is of another week"
	case s["policy_digest"] != p.digest:
		return nil, "the critic_certificate is by another policy"
	}
	return maps.Clone(s), ""
}

// noVolumes returns volumes that expect no number of items for any day.
func noVolumes() volumes {
	v := volumes{dates: map[int]float64{}}
	for i := range v.days {
		v.days[i] = math.NaN()
	}
	return v
}
