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
	judged := func(is bool, in, what, at string) {
		if !is {
			out = append(out, fault{in, what + " is not judged", at})
		}
	}
	for _, c := range f.claims {
		judged(c.result != NotJudged, "claims", "claim "+c.id, "claims."+c.id)
	}
	for _, a := range aspects {
		judged(f.aspects[a.name] != NotJudged, "presentation", a.name, "presentation."+a.name)
	}
	for _, c := range f.constraints {
		judged(c.result != NotJudged, "direction", "constraint "+c.key, "direction.constraints."+c.key)
	}
	single := func(key string, is bool) { judged(is, key, key, key) }
	single("primary_goal", f.primary != NotJudged)
	single("non_goals", f.nonGoals.result != NotJudged)
	single("gap_policy", f.gap.result != NotJudged)
	single("direction.intent", f.intent != NotJudged)
	single("adds_requirement", f.adds != nil)
	single("hides_derivation", f.hides != nil)
	single("part_goal_met", f.part == PartText || f.met != nil)
	single("requires_followup_text_candidate", f.followup != nil)
	for _, s := range f.strange {
		out = append(out, fault{"judgement", s, ""})
	}
	return out
}
