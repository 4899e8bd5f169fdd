package edit

import "fmt"

// A list of doubts that is being made.
type doubts []doubt

func (d *doubts) add(check, location, question, format string, args ...any) {
	*d = append(*d, doubt{fault{check, fmt.Sprintf(format, args...), location}, question})
}

// doubts finds the cases of rule 5.
func (f facts) doubts() []doubt {
	var out doubts
	for _, c := range f.claims {
		c.doubt(&out)
	}
	f.sectionDoubts(&out)
	f.goalDoubts(&out)
	f.followupDoubts(&out)
	for _, c := range f.changes {
		c.doubt(&out)
	}
	for _, s := range f.stale {
		out.add("status_defect", s.location, "Is the status file still that of the current source? "+sentence(s.message), "%s", s.message)
	}
	for _, s := range f.strange {
		out.add("judgement", "", "Is the judgement about this candidate? "+sentence(s), "%s", s)
	}
	return out
}

// binding tells whether a text that does not keep the claim is rejected.
func (c claimFact) binding() bool { return !c.added && (c.status == asserted || c.status == implied) }

// doubt tells what is doubtful about one claim. Retired ones are not, while they
// are there.
func (c claimFact) doubt(out *doubts) {
	why := because(c.notes)
	switch {
	case c.status == retired && c.gone:
		out.add("claim_checks", c.id, fmt.Sprintf("May the retired claim %s be gone from the ledger, where it keeps what was given up?", c.id), "the retired claim %s is gone from the ledger", c.id)
	case c.status == retired:
	case c.result == Fail && c.defect != "":
		out.add("status_defect", c.id, fmt.Sprintf("Is claim %s right as it stands in the status file? It fails, but %s.", c.id, c.defect),
			"claim %s fails, but %s%s", c.id, c.defect, why)
	case c.result == Fail && c.added:
		out.add("claim_checks", c.id, fmt.Sprintf("Is claim %s to be in the ledger before the text makes it?", c.id), "the new claim %s fails%s", c.id, why)
	case c.result == Fail && !c.binding():
		out.add("claim_checks", c.id, fmt.Sprintf("May the %s claim %s be given up?", c.status, c.id), "claim %s (%s) fails%s", c.id, c.status, why)
	case c.result == Warn:
		out.add("claim_checks", c.id, fmt.Sprintf("Does the candidate still make claim %s%s?", c.id, why), "claim %s is at risk%s", c.id, why)
	case c.result == NotJudged:
		out.add("claim_checks", c.id, fmt.Sprintf("Does the candidate pass the preservation test of claim %s?", c.id), "claim %s was not judged", c.id)
	}
	if c.stated && c.status != retired && c.result != Fail {
		out.add("status_defect", c.id, fmt.Sprintf("Is claim %s right as it stands in the status file?", c.id), "the status file may be wrong about claim %s: %s", c.id, c.defect)
	}
}

func (f facts) sectionDoubts(out *doubts) {
	for _, s := range []struct {
		check, what string
		graded
	}{
		{"presentation_spec", "the presentation spec", f.presentation},
		{"non_goals", "the non-goals", f.nonGoals},
		{"gap_policy", "the gap policy", f.gap},
		{"direction", "the direction", f.direction},
	} {
		switch s.result {
		case Warn:
			out.add(s.check, "", fmt.Sprintf("Does the candidate keep to %s%s?", s.what, because(s.notes)), "%s: a warning%s", s.what, because(s.notes))
		case NotJudged:
			out.add(s.check, "", fmt.Sprintf("Does the candidate keep to %s?", s.what), "%s: not judged, or not all of it", s.what)
		}
	}
	if f.conflicts {
		out.add("direction", "", "Which is to hold: the direction or the status file?", "the direction conflicts with the status file")
	}
	if f.adds == nil {
		out.add("requirement", "", "Does the candidate add a requirement?", "whether it adds a requirement was not judged")
	}
	if f.hides == nil {
		out.add("derivation", "", "Does the candidate still show how each requirement follows from the theory?", "whether it hides a derivation was not judged")
	}
}

func (f facts) goalDoubts(out *doubts) {
	switch {
	case f.primary == Worsened:
		out.add("rubric", "", "Is what improves worth a worse primary goal?", "the primary goal worsens")
	case f.primary == NotJudged:
		out.add("rubric", "", "Does the candidate improve the primary goal?", "the primary goal was not judged")
	}
	if f.part != PartText && f.met == nil {
		out.add("rubric", string(f.part), fmt.Sprintf("Is what was to be mended in %s mended?", f.part), "whether %s is mended was not judged", f.part)
	}
}

func (f facts) followupDoubts(out *doubts) {
	switch {
	case f.followup == nil:
		out.add("followup", "", "Would the text have to change under the candidate status?", "whether the text must follow was not judged")
	case *f.followup && f.why == "":
		out.add("followup", "", "What exactly in the text would have to change under the candidate status?", "the text must follow, and no reason says how")
	}
}
