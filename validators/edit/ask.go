package edit

import "strings"

// questions are what a judge is asked, as plain values: the claims with their
// tests and how their spans stand, and the goals, non-goals and constraints by
// the keys that a judgement uses.
func (in *input) questions() map[string]any {
	source, now := &haystack{text: in.source}, &haystack{text: in.candidate}
	if in.ActivePart != PartText {
		now = source
	}
	claims := []any{}
	for _, c := range in.status.claims {
		claims = append(claims, map[string]any{
			"id": c.id, "status": string(c.status), "span": c.span, "claim": c.claim, "preservation_test": c.test,
			"span_in_source": standings[source.find(c.span)], "span_in_candidate": standings[now.find(c.span)],
		})
	}
	s := in.status
	return map[string]any{
		"claims": claims, "changes": in.askedChanges(), "primary_goal": s.rubric.primary,
		"secondary_goals": listed(s.rubric.secondary), "non_goals": listed(s.rubric.nonGoals),
		"voice": s.presentation.voice, "register": s.presentation.register,
		"avoid": listed(s.presentation.avoid), "preserve": listed(s.presentation.preserve),
		"intent": in.direction.intent, "expected_improvement": in.direction.expected, "constraints": listed(in.direction.constraints),
	}
}

func listed(list []label) []any {
	out := []any{}
	for _, l := range list {
		out = append(out, map[string]any{"key": l.key, "text": strings.TrimSpace(l.text)})
	}
	return out
}

// open lists what a judgement leaves open, or says of what is not there.
func (f facts) open() []fault {
	var out []fault
	for _, c := range f.claims {
		if c.result == NotJudged {
			out = append(out, fault{"claims", "claim " + c.id + " is not judged", "claims." + c.id})
		}
	}
	for _, a := range aspects {
		if f.aspects[a.name] == NotJudged {
			out = append(out, fault{"presentation", a.name + " is not judged", "presentation." + a.name})
		}
	}
	for _, c := range f.constraints {
		if c.result == NotJudged {
			out = append(out, fault{"direction", "constraint " + c.key + " is not judged", "direction.constraints." + c.key})
		}
	}
	for _, s := range f.single() {
		if s.open {
			out = append(out, fault{s.key, s.key + " is not judged", s.key})
		}
	}
	for _, s := range f.strange {
		out = append(out, fault{"judgement", s, ""})
	}
	return out
}

func (f facts) single() []struct {
	key  string
	open bool
} {
	return []struct {
		key  string
		open bool
	}{
		{"primary_goal", f.primary == NotJudged}, {"non_goals", f.nonGoals.result == NotJudged}, {"gap_policy", f.gap.result == NotJudged},
		{"direction.intent", f.intent == NotJudged}, {"adds_requirement", f.adds == nil}, {"hides_derivation", f.hides == nil},
		{"part_goal_met", f.part != PartText && f.met == nil}, {"requires_followup_text_candidate", f.followup == nil},
	}
}
