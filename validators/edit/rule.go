package edit

import (
	"fmt"
	"strings"
)

// A Decision is the decision on a candidate.
type Decision string

// The decisions.
const (
	Accept           Decision = "accept"
	Reject           Decision = "reject"
	NeedsHumanReview Decision = "needs_human_review"
)

// A ruling is a decision, the rule that made it, and all findings: faults by the rules
// that reject, doubts for a person.
type ruling struct {
	decision Decision
	rule     int
	because  []fault // of the rule
	faults   []fault
	doubts   []doubt
}

// A doubt is a fault that only a person can decide on, with the question.
type doubt struct {
	fault
	question string
}

// rule decides. The first rule with a finding decides:
//
//  1. the candidate cannot be compared with this state: reject
//  2. it violates a frozen part, a claim or another requirement: reject
//  3. it does not follow the direction: reject
//  4. it improves nothing: reject
//  5. there is doubt: a person
//  6. accept
//
// A doubt is a failing claim that the status file may have wrong, or a failing
// direction that conflicts with the status file.
func (f facts) rule() ruling {
	r := ruling{decision: Accept, rule: 6}
	for i, faults := range [][]fault{f.unusable, f.broken(), f.undirected(), f.useless()} {
		if len(faults) > 0 && r.rule == 6 {
			r.decision, r.rule, r.because = Reject, i+1, faults
		}
		r.faults = append(r.faults, faults...)
		if i == 0 && len(faults) > 0 {
			break // the other findings have other subjects
		}
	}
	if r.doubts = f.doubts(); len(r.doubts) > 0 && r.rule == 6 {
		r.decision, r.rule = NeedsHumanReview, 5
		for _, d := range r.doubts {
			r.because = append(r.because, d.fault)
		}
	}
	return r
}

// broken returns the findings of rule 2.
func (f facts) broken() []fault {
	var out []fault
	add := func(is bool, check, location, format string, args ...any) {
		if is {
			out = append(out, fault{check, fmt.Sprintf(format, args...), location})
		}
	}
	for _, at := range f.frozen.changed {
		add(true, "frozen_parts", at, "%s is frozen and has changed", at)
	}
	add(isTrue(f.adds), "requirement", "", "the candidate adds a requirement")
	add(isTrue(f.hides), "derivation", "", "the candidate hides how a requirement follows from the theory")
	for _, c := range f.claims {
		add(c.Result == gradeFail && c.defect == "" && c.binding(), "claim_checks", c.ID, "claim %s (%s) fails%s", c.ID, c.status, because(c.Notes))
	}
	for _, c := range f.changes {
		add(c.Result == gradeFail, "changes", c.key, "%s: %s%s", c.String(), c.answer, because(c.Notes))
	}
	for _, s := range []struct {
		check string
		graded
		what string
	}{
		{"non_goals", f.nonGoals, "a non-goal is violated"},
		{"presentation_spec", f.presentation, "the presentation spec is not kept"},
		{"gap_policy", f.gap, "the gap policy is not kept"},
	} {
		add(s.Result == gradeFail, s.check, "", "%s%s", s.what, because(s.Notes))
	}
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }

// because returns notes as the end of a sentence.
func because(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	trimmed := make([]string, len(notes))
	for i, n := range notes {
		trimmed[i] = strings.TrimRight(n, ".")
	}
	return ": " + strings.Join(trimmed, "; ")
}

// undirected returns the findings of rule 3.
func (f facts) undirected() []fault {
	if f.direction.Result != gradeFail || f.conflicts {
		return nil
	}
	return []fault{{"direction", "the direction is not followed" + because(f.direction.Notes), ""}}
}

// useless returns the findings of rule 4. An unjudged goal is a doubt.
func (f facts) useless() []fault {
	improved := f.primary == goalImproved
	for _, g := range f.secondary {
		improved = improved || g.Value == goalImproved
	}
	message := ""
	switch {
	case f.frozen.noop && f.part == partText:
		message = "the candidate is the same text as the source, or differs in what no reader sees"
	case f.frozen.noop:
		message = fmt.Sprintf("the candidate leaves %s as it is", f.part)
	case f.part != partText && f.met != nil && !*f.met:
		message = fmt.Sprintf("the fault in %s is not mended", f.part)
	case f.part == partText && f.primary != notJudged && !improved:
		message = fmt.Sprintf("no goal improves (the primary goal: %s)", f.primary)
	default:
		return nil
	}
	return []fault{{"rubric", message, ""}}
}

// doubts is a list of doubts.
type doubts []doubt

func (d *doubts) add(is bool, check, location, question, format string, args ...any) {
	if is {
		*d = append(*d, doubt{fault{check, fmt.Sprintf(format, args...), location}, question})
	}
}

// doubts returns the findings of rule 5.
func (f facts) doubts() []doubt {
	var out doubts
	for _, c := range f.claims {
		c.doubt(&out)
	}
	for _, s := range []struct {
		check, what string
		graded
	}{
		{"presentation_spec", "the presentation spec", f.presentation}, {"non_goals", "the non-goals", f.nonGoals},
		{"gap_policy", "the gap policy", f.gap}, {"direction", "the direction", f.direction},
	} {
		question := fmt.Sprintf("Does the candidate keep to %s%s?", s.what, because(s.Notes))
		out.add(s.Result == gradeWarn, s.check, "", question, "%s: a warning%s", s.what, because(s.Notes))
		out.add(s.Result == notJudged, s.check, "", question, "%s: not judged, or not all of it", s.what)
	}
	out.add(f.conflicts, "direction", "", "Does the direction hold, or the status file?", "the direction conflicts with the status file")
	out.add(f.adds == nil, "requirement", "", "Does the candidate add a requirement?", "nobody has judged whether it adds a requirement")
	out.add(f.hides == nil, "derivation", "", "Does the candidate still show how each requirement follows from the theory?",
		"nobody has judged whether it hides a derivation")
	out.add(f.primary == goalWorsened, "rubric", "", "Is the improvement worth a worse primary goal?", "the primary goal worsens")
	out.add(f.primary == notJudged, "rubric", "", "Does the candidate improve the primary goal?", "the primary goal was not judged")
	out.add(f.part != partText && f.met == nil, "rubric", string(f.part), fmt.Sprintf("Is the fault in %s mended?", f.part),
		"nobody has judged whether %s is mended", f.part)
	const followup = "Which part of the text would have to change under the candidate status?"
	out.add(f.followup == nil, "followup", "", followup, "nobody has judged whether the text must follow")
	out.add(isTrue(f.followup) && f.reason == "", "followup", "", followup, "the text must follow, and no reason says how")
	for _, c := range f.changes {
		message := c.String() + ": " + c.answer + because(c.Notes)
		out.add(c.Result == gradeWarn || c.Result == notJudged, "changes", c.key, "Is this change right? "+sentence(clean(message)), "%s", message)
	}
	for _, s := range f.stale {
		out.add(true, "status_defect", s.location, "Does the status file belong to the current source? "+sentence(s.message), "%s", s.message)
	}
	for _, s := range f.strange {
		out.add(true, "judgement", "", "Is the judgement about this candidate? "+sentence(s), "%s", s)
	}
	return out
}

// binding reports whether a text that fails the claim is rejected.
func (c claimFact) binding() bool { return !c.added && (c.status == asserted || c.status == implied) }

// doubt adds the doubts about one claim. An existing retired claim has none.
func (c claimFact) doubt(out *doubts) {
	reason, right := because(c.Notes), fmt.Sprintf("Is claim %s right in the status file?", c.ID)
	if c.status == retired {
		out.add(c.removed, "claim_checks", c.ID, fmt.Sprintf("May the retired claim %s be removed from the ledger?", c.ID),
			"the retired claim %s is gone from the ledger", c.ID)
		return
	}
	failed := c.Result == gradeFail
	out.add(failed && c.defect != "", "status_defect", c.ID, right, "claim %s fails, but %s%s", c.ID, c.defect, reason)
	out.add(failed && c.defect == "" && c.added, "claim_checks", c.ID,
		fmt.Sprintf("May claim %s be in the ledger before the text makes it?", c.ID), "the new claim %s fails%s", c.ID, reason)
	out.add(failed && c.defect == "" && !c.added && !c.binding(), "claim_checks", c.ID,
		fmt.Sprintf("May the %s claim %s be given up?", c.status, c.ID), "claim %s (%s) fails%s", c.ID, c.status, reason)
	out.add(c.Result == gradeWarn, "claim_checks", c.ID, fmt.Sprintf("Does the candidate still make claim %s%s?", c.ID, reason),
		"claim %s is at risk%s", c.ID, reason)
	out.add(c.Result == notJudged, "claim_checks", c.ID,
		fmt.Sprintf("Does the candidate pass the preservation test of claim %s?", c.ID), "claim %s was not judged", c.ID)
	out.add(c.stated && !failed, "status_defect", c.ID, right, "the status file may be wrong about claim %s: %s", c.ID, c.defect)
}
