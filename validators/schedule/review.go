package schedule

import (
	"context"
	"maps"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/internal/statements"
)

// criticParams are the parameters of the critic gate. Scores in them override
// those of the subject.
type criticParams struct {
	commonParams
	SigningKey     string   `json:"signing_key,omitempty" jsonschema:"Ed25519 private key that signs the decision if the review contains the schedule: PEM, or a file name"`
	Strategic      *float64 `json:"strategic_score,omitempty" jsonschema:"0 to 100"`
	Aggressiveness *float64 `json:"revenue_aggressiveness,omitempty" jsonschema:"0 to 100"`
	Health         *float64 `json:"subscriber_health,omitempty" jsonschema:"0 to 100"`
	Brand          *float64 `json:"brand_consistency,omitempty" jsonschema:"0 to 100"`
	Major          *int     `json:"major_concerns,omitempty" jsonschema:"number of major concerns"`
	Concerns       []any    `json:"concerns,omitempty" jsonschema:"concerns: concerns: texts, or objects with a severity"`
}

// scores returns the parameters as fields of a review.
func (p criticParams) scores() map[string]any {
	m := map[string]any{}
	for name, v := range map[string]*float64{
		"strategic_score": p.Strategic, "revenue_aggressiveness": p.Aggressiveness, "subscriber_health": p.Health, "brand_consistency": p.Brand,
	} {
		if v != nil {
			m[name] = *v
		}
	}
	if p.Major != nil {
		m["major_concerns"] = *p.Major
	}
	if p.Concerns != nil {
		m["concerns"] = p.Concerns
	}
	return m
}

// scheduleOptional returns true if the parameters contain fields of a review.
func (p criticParams) scheduleOptional() bool { return len(p.scores()) > 0 }

func (d *environment) critic(_ context.Context, p criticParams, at gateInput) (validators.Verdict, error) {
	key, refused, err := d.signing(p.SigningKey, p.commonParams)
	if err != nil {
		return validators.Verdict{}, err
	}
	v, review := at.policy.critic(at.subject, p.scores())
	details := v.Details.(map[string]any)
	if s := at.policy.criticStatement(at.plan, review, details, d.Clock()); s != nil && key != nil && refused == "" && statements.Seal(statements.Critic, key, s) {
		details["critic_certificate"] = s
	}
	return v, nil
}

// reviewFields are the fields of a review.
var reviewFields = []string{
	decisionField, "strategic_score", "revenue_aggressiveness", "revenue_aggressiveness_score", "subscriber_health", "subscriber_health_score",
	"brand_consistency", "brand_consistency_score", "major_concerns", "concerns", "recommendations",
}

// scoreSuffix is an optional ending of the names of scores.
const scoreSuffix = "_score"

var reviewNames = []string{"critic", "critic_review", "review"}

// findReview returns the review in a subject with the scores of the parameters. The subject
// contains the review under one of its names, or is the review. A schedule beside the review is
// not searched, because the planner wrote the schedule.
func (in *scheduleReader) findReview(subject, scores map[string]any) map[string]any {
	review, under := subject, ""
	for _, name := range reviewNames {
		switch inner, ok := subject[name].(map[string]any); {
		case ok && under != "":
			in.wrong(name, "is a second review beside "+under+": which of them is meant?")
		case ok:
			review, under = inner, name
		case subject[name] != nil && holdsSchedule(subject):
			in.wrong(name, "must be an object, not "+show(subject[name]))
		}
	}
	all := map[string]any{}
	maps.Copy(all, review)
	for name, v := range scores {
		delete(all, name+scoreSuffix)
		all[name] = v
	}
	return all
}

func holdsSchedule(m map[string]any) bool { return m["items"] != nil || m["schedule"] != nil }
