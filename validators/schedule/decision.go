package schedule

import (
	"maps"
	"math"
	"time"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// criticStatement is the critic's decision on a schedule as a statement that
// can be signed; nil where what was judged is a review without its schedule. m
// is the schedule, decision the details of the gate's verdict.
func (p *Policy) criticStatement(m, review, decision map[string]any, now time.Time) map[string]any {
	if m["items"] == nil {
		return nil
	}
	r := newReport(p)
	plan := r.read(m, needSendTypes|needTimes)
	if r.refused() {
		return nil // what cannot be read whole has no hash that means it
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

// scoresOf is a review without the schedule that it may stand in.
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

// decision gives the critic's statement of a schedule where it is one on just
// these items, this creator and week, by this policy, under a key that is
// trusted; else why it is not.
func (p *Policy) decision(plan *plan, f facts, hash string, keys signatures.Keys) (map[string]any, string) {
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

// noVolumes expects nothing of any day.
func noVolumes() volumes {
	v := volumes{dates: map[int]float64{}}
	for i := range v.days {
		v.days[i] = math.NaN()
	}
	return v
}
