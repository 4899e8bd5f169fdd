package schedule

import (
	"context"
	"maps"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schedule/statements"
)

// criticParams may say the review's scores, where the subject does not.
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
	review := map[string]any{}
	for _, m := range []map[string]any{reviewIn(at.plan), p.scores()} {
		maps.Copy(review, m)
	}
	v := at.policy.critic(review)
	details := v.Details.(map[string]any)
	if s := at.policy.criticStatement(at.plan, review, details, d.Clock()); s != nil && key != nil && refused == "" && statements.Seal(statements.Critic, key, s) {
		details["critic_certificate"] = s
	}
	return v, nil
}

// reviewFields are what a review is made of.
var reviewFields = []string{
	"strategic_score", "revenue_aggressiveness", "revenue_aggressiveness_score", "subscriber_health", "subscriber_health_score",
	"brand_consistency", "brand_consistency_score", "major_concerns", "concerns", "recommendations",
}

// reviewIn finds the review in a subject: the subject itself, or a schedule
// that carries it.
func reviewIn(m map[string]any) map[string]any {
	for _, name := range []string{"critic", "critic_review", "review"} {
		if inner, ok := m[name].(map[string]any); ok {
			return inner
		}
	}
	return m
}
