package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Report is a verification: what was found of one candidate, and the
// decision. Its texts are single lines that print.
type Report struct {
	CandidateID     string `json:"candidate_id"`
	DirectionID     string `json:"direction_id"`
	ActivePart      Part   `json:"active_part"`
	DirectionFile   string `json:"direction_file"`
	CandidateFile   string `json:"candidate_file"`
	MetadataFile    string `json:"metadata_file"`
	CandidateSource string `json:"candidate_source"`

	FrozenParts      Section            `json:"frozen_parts"`
	ClaimChecks      Table[ClaimCheck]  `json:"claim_checks"` // in the order of the ledger
	PresentationSpec PresentationReport `json:"presentation_spec"`
	Rubric           RubricReport       `json:"rubric"`
	GapPolicy        Section            `json:"gap_policy"`
	Direction        DirectionReport    `json:"direction"`

	RequiresFollowup bool   `json:"requires_followup_text_candidate"`
	FollowupReason   string `json:"followup_reason"`

	Decision  Decision `json:"decision"`
	Reason    string   `json:"reason"` // one sentence
	Questions []string `json:"required_human_questions"`

	ruling ruling
}

// A Section is a result and what is to be said of it.
type Section struct {
	Result Result   `json:"result"`
	Notes  []string `json:"notes"`
}

// A ClaimCheck is what became of one claim.
type ClaimCheck struct {
	Result Result `json:"result"`
	Reason string `json:"reason"`
}

// A PresentationReport is what was found of the presentation spec.
type PresentationReport struct {
	Result   Result   `json:"result"`
	Preserve Result   `json:"preserve_items"`
	Avoid    Result   `json:"avoid_items"`
	Notes    []string `json:"notes"`
}

// A RubricReport is what becomes of the goals.
type RubricReport struct {
	Primary   Change        `json:"primary_goal"`
	Secondary Table[Change] `json:"secondary_goals"`
	NonGoals  Section       `json:"non_goals"`
}

// A DirectionReport is what was found of the direction.
type DirectionReport struct {
	Result      Result        `json:"result"`
	Intent      Result        `json:"intent"`
	Constraints Table[Result] `json:"constraints"`
	Notes       []string      `json:"notes"`
}

// A Table is a mapping with an order.
type Table[T any] []Row[T]

// A Row is one entry of a [Table].
type Row[T any] struct {
	Key   string
	Value T
}

// Get finds the value of a key.
func (t Table[T]) Get(key string) (value T, found bool) {
	for _, r := range t {
		if r.Key == key {
			return r.Value, true
		}
	}
	return value, false
}

// MarshalJSON gives an object whose keys are in the table's order.
func (t Table[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, r := range t {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(r.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(r.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// report writes up what was found and decided.
func (in *input) report(f facts, r ruling) Report {
	out := Report{
		CandidateID: in.direction.candidate, DirectionID: clean(in.direction.id), ActivePart: in.ActivePart,
		DirectionFile: clean(slashed(in.Direction.Path)), CandidateFile: clean(slashed(in.Candidate.Path)),
		MetadataFile: clean(slashed(in.Metadata.Path)), CandidateSource: in.metadata.source,

		FrozenParts:      Section{f.frozen.result, f.frozen.notes},
		PresentationSpec: PresentationReport{f.presentation.result, f.aspects["preserve"], f.aspects["avoid"], f.presentation.notes},
		Rubric:           RubricReport{Primary: f.primary, NonGoals: Section{f.nonGoals.result, f.nonGoals.notes}},
		GapPolicy:        Section{f.gap.result, f.gap.notes},
		Direction:        DirectionReport{Result: f.direction.result, Intent: f.intent, Notes: f.direction.notes},

		RequiresFollowup: is(f.followup), FollowupReason: f.why,
		Decision: r.decision, Reason: r.sentence(f), ruling: r,
	}
	for _, c := range f.claims {
		out.ClaimChecks = append(out.ClaimChecks, Row[ClaimCheck]{c.id, ClaimCheck{c.result, c.said()}})
	}
	for _, g := range f.secondary {
		out.Rubric.Secondary = append(out.Rubric.Secondary, Row[Change]{clean(g.key), g.change})
	}
	for _, c := range f.constraints {
		out.Direction.Constraints = append(out.Direction.Constraints, Row[Result]{clean(c.key), c.result})
	}
	if r.decision == NeedsHumanReview {
		for _, d := range r.doubts {
			out.Questions = append(out.Questions, clean(d.question))
		}
	}
	out.note(f.unusable)
	out.noteChanges(f.changes)
	out.tidy()
	return out
}

// note puts why a candidate is unusable into the sections that it is about.
func (r *Report) note(unusable []fault) {
	for _, u := range unusable {
		switch u.check {
		case "identity":
			r.Direction.Notes = append(r.Direction.Notes, u.message)
		case "base":
			r.FrozenParts.Result = Fail
			fallthrough
		default:
			r.FrozenParts.Notes = append(r.FrozenParts.Notes, u.message)
		}
	}
}

// tidy makes lists of what is nil, so that a report is the same as what is
// read of its file, and lines of all texts.
func (r *Report) tidy() {
	for _, list := range []*[]string{&r.FrozenParts.Notes, &r.PresentationSpec.Notes, &r.Rubric.NonGoals.Notes, &r.GapPolicy.Notes, &r.Direction.Notes, &r.Questions} {
		tidied := make([]string, 0, len(*list))
		for _, s := range *list {
			tidied = append(tidied, clean(s))
		}
		*list = tidied
	}
	if r.ClaimChecks == nil {
		r.ClaimChecks = Table[ClaimCheck]{}
	}
	if r.Rubric.Secondary == nil {
		r.Rubric.Secondary = Table[Change]{}
	}
	if r.Direction.Constraints == nil {
		r.Direction.Constraints = Table[Result]{}
	}
}

// said is what there is to say of a claim.
func (c claimFact) said() string {
	said := strings.Join(c.notes, "; ")
	if c.defect != "" && said == "" {
		return c.defect
	}
	if c.defect != "" {
		said += " (" + c.defect + ")"
	}
	return clean(said)
}

// maxBecause is how many findings the reason tells.
const maxBecause = 3

// sentence is the reason of a decision.
func (r ruling) sentence(f facts) string {
	if r.decision == Accept {
		return f.praise()
	}
	var list []string
	for i, b := range r.because {
		if i == maxBecause {
			list = append(list, fmt.Sprintf("and %d more", len(r.because)-i))
			break
		}
		list = append(list, strings.TrimRight(b.message, "."))
	}
	word := "Rejected"
	if r.decision == NeedsHumanReview {
		word = "A person has to decide"
	}
	return sentence(clean(word + ": " + strings.Join(list, "; ")))
}

func (f facts) praise() string {
	what := "what was to be mended in " + string(f.part) + " is mended"
	if f.part == PartText {
		what = "a secondary goal improves"
		if f.primary == Improved {
			what = "the primary goal improves"
		}
	}
	return fmt.Sprintf("Accepted: the claims (%d) are preserved, nothing frozen has changed, and %s.", len(f.claims), what)
}

// Summary gives the file of the verification, the decision and the reason, a
// line for each.
func (r Report) Summary() string {
	return fmt.Sprintf("%s\n%s\n%s\n", r.File(), r.Decision, r.Reason)
}
