package schedule

import (
	"context"
	"maps"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// criticParams may say the review's scores; they count before what the subject says.
type criticParams struct {
	where
	SigningKey     string   `json:"signing_key,omitempty" jsonschema:"signs the decision, where the schedule stands beside the review: an Ed25519 private key as PEM, or the name of its file"`
	Strategic      *float64 `json:"strategic_score,omitempty" jsonschema:"0 to 100"`
	Aggressiveness *float64 `json:"revenue_aggressiveness,omitempty" jsonschema:"0 to 100"`
	Health         *float64 `json:"subscriber_health,omitempty" jsonschema:"0 to 100"`
	Brand          *float64 `json:"brand_consistency,omitempty" jsonschema:"0 to 100"`
	Major          *int     `json:"major_concerns,omitempty" jsonschema:"how many of the concerns are major"`
	Concerns       []any    `json:"concerns,omitempty" jsonschema:"texts, or objects with a severity"`
}

// scores are the parameters as the fields of a review.
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

// enough is true where the parameters have a review's fields.
func (p criticParams) enough() bool { return len(p.scores()) > 0 }

func (d *desk) critic(_ context.Context, p criticParams, at sitting) (validators.Verdict, error) {
	key, refused, err := d.signing(p.SigningKey, p.where)
	if err != nil {
		return validators.Verdict{}, err
	}
	v, review := at.policy.critic(at.said, p.scores())
	details := v.Details.(map[string]any)
	if s := at.policy.criticStatement(at.plan, review, details, d.Clock()); s != nil && key != nil && refused == "" && statements.Seal(statements.Critic, key, s) {
		details["critic_certificate"] = s
	}
	return v, nil
}

// reviewFields are what a review is made of.
var reviewFields = []string{
	decisionField, "strategic_score", "revenue_aggressiveness", "revenue_aggressiveness_score", "subscriber_health", "subscriber_health_score",
	"brand_consistency", "brand_consistency_score", "major_concerns", "concerns", "recommendations",
}

// longer is what the names of scores may end in.
const longer = "_score"

var reviewNames = []string{"critic", "critic_review", "review"}

// given finds the review in a subject, and lays the scores over it: what stands
// under one of its names, else the subject itself. It is not looked for within a
// schedule that it stands beside: what is in there its planner wrote, not the critic.
func (in *intake) given(subject, scores map[string]any) map[string]any {
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
		delete(all, name+longer)
		all[name] = v
	}
	return all
}

func holdsSchedule(m map[string]any) bool { return m["items"] != nil || m["schedule"] != nil }
