package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/files"
)

// A Report is a verification: the findings about one candidate, and the decision. Its
// texts are printable single lines.
type Report struct {
	CandidateID     string   `json:"candidate_id" yaml:"candidate_id"`
	DirectionID     string   `json:"direction_id" yaml:"direction_id"`
	ActivePart      partName `json:"active_part" yaml:"active_part"`
	DirectionFile   string   `json:"direction_file" yaml:"direction_file"`
	CandidateFile   string   `json:"candidate_file" yaml:"candidate_file"`
	MetadataFile    string   `json:"metadata_file" yaml:"metadata_file"`
	CandidateSource string   `json:"candidate_source" yaml:"candidate_source"`

	FrozenParts      graded                   `json:"frozen_parts" yaml:"frozen_parts"`
	ClaimChecks      orderedTable[claimCheck] `json:"claim_checks" yaml:"claim_checks"` // in the order of the ledger
	PresentationSpec presentationReport       `json:"presentation_spec" yaml:"presentation_spec"`
	Rubric           rubricReport             `json:"rubric" yaml:"rubric"`
	GapPolicy        graded                   `json:"gap_policy" yaml:"gap_policy"`
	Direction        directionReport          `json:"direction" yaml:"direction"`

	RequiresFollowup bool   `json:"requires_followup_text_candidate" yaml:"requires_followup_text_candidate"`
	FollowupReason   string `json:"followup_reason" yaml:"followup_reason"`

	Decision  Decision `json:"decision" yaml:"decision"`
	Reason    string   `json:"reason" yaml:"reason"` // one sentence
	Questions []string `json:"required_human_questions" yaml:"required_human_questions"`

	ruling ruling
}

// A claimCheck is the finding about one claim.
type claimCheck struct {
	Result grade  `json:"result" yaml:"result"`
	Reason string `json:"reason" yaml:"reason"`
}

// A presentationReport is the finding about the presentation spec.
type presentationReport struct {
	Result   grade    `json:"result" yaml:"result"`
	Preserve grade    `json:"preserve_items" yaml:"preserve_items"`
	Avoid    grade    `json:"avoid_items" yaml:"avoid_items"`
	Notes    []string `json:"notes" yaml:"notes"`
}

// A rubricReport is the finding about the goals.
type rubricReport struct {
	Primary   goalChange               `json:"primary_goal" yaml:"primary_goal"`
	Secondary orderedTable[goalChange] `json:"secondary_goals" yaml:"secondary_goals"`
	NonGoals  graded                   `json:"non_goals" yaml:"non_goals"`
}

// A directionReport is the finding about the direction. Its notes list every change.
type directionReport struct {
	Result      grade               `json:"result" yaml:"result"`
	Intent      grade               `json:"intent" yaml:"intent"`
	Constraints orderedTable[grade] `json:"constraints" yaml:"constraints"`
	Notes       []string            `json:"notes" yaml:"notes"`
}

// A orderedTable is a mapping with an order.
type orderedTable[T any] []tableRow[T]

// A tableRow is one entry of a [orderedTable].
type tableRow[T any] struct {
	Key   string
	Value T
}

// MarshalJSON returns an object whose keys are in the table's order.
func (t orderedTable[T]) MarshalJSON() ([]byte, error) {
	var rows [][]byte
	for _, r := range t {
		key, err := json.Marshal(r.Key)
		value, other := json.Marshal(r.Value)
		if err = errors.Join(err, other); err != nil {
			return nil, err
		}
		rows = append(rows, append(append(key, ':'), value...))
	}
	return append(append([]byte("{"), bytes.Join(rows, []byte(","))...), '}'), nil
}

// MarshalYAML returns a mapping whose keys are in the table's order.
func (t orderedTable[T]) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, r := range t {
		var key, value yaml.Node
		if err := errors.Join(key.Encode(r.Key), value.Encode(r.Value)); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, &key, &value)
	}
	return n, nil
}

// YAML returns the verification file. The same report always has the same bytes.
func (r Report) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(map[string]Report{"verification": r}), e.Close()); err != nil {
		return nil, fmt.Errorf("verification: %w", err)
	}
	return b.Bytes(), nil
}

// report describes the findings and the decision.
func (in *input) report(f facts, r ruling) Report {
	out := Report{
		CandidateID: in.direction.Candidate, DirectionID: clean(in.direction.ID), ActivePart: in.ActivePart,
		DirectionFile: clean(slashed(in.Direction.Path)), CandidateFile: clean(slashed(in.Candidate.Path)),
		MetadataFile: clean(slashed(in.Metadata.Path)), CandidateSource: in.metadata.source,

		FrozenParts:      f.frozen.graded,
		PresentationSpec: presentationReport{f.presentation.Result, f.aspects["preserve"], f.aspects["avoid"], f.presentation.Notes},
		Rubric:           rubricReport{f.primary, f.secondary, f.nonGoals},
		GapPolicy:        f.gap,
		Direction:        directionReport{Result: f.direction.Result, Intent: f.intent, Constraints: f.constraints, Notes: f.direction.Notes},

		RequiresFollowup: isTrue(f.followup), FollowupReason: f.reason,
		Decision: r.decision, Reason: r.sentence(f), ruling: r,
	}
	for _, c := range f.claims {
		reason := strings.Join(c.Notes, "; ")
		if c.defect != "" {
			reason = strings.TrimPrefix(reason+" ("+c.defect+")", " ")
		}
		out.ClaimChecks = append(out.ClaimChecks, tableRow[claimCheck]{c.ID, claimCheck{c.Result, clean(reason)}})
	}
	for _, c := range f.changes {
		if c.Result != gradePass {
			out.Direction.Result = worst(out.Direction.Result, gradeWarn)
		}
		out.Direction.Notes = append(out.Direction.Notes, fmt.Sprintf("%s: %s%s [%s]", c.String(), c.answer, because(c.Notes), c.key))
	}
	for _, u := range f.unusable {
		if u.check == "identity" {
			out.Direction.Notes = append(out.Direction.Notes, u.message)
			continue
		}
		out.FrozenParts.Notes = append(out.FrozenParts.Notes, u.message)
		if u.check == "base" {
			out.FrozenParts.Result = gradeFail
		}
	}
	for _, d := range r.doubts {
		if r.decision == NeedsHumanReview {
			out.Questions = append(out.Questions, d.question)
		}
	}
	for _, list := range []*[]string{&out.FrozenParts.Notes, &out.PresentationSpec.Notes, &out.Rubric.NonGoals.Notes,
		&out.GapPolicy.Notes, &out.Direction.Notes, &out.Questions} {
		tidied := make([]string, 0, len(*list))
		for _, s := range *list {
			tidied = append(tidied, clean(s))
		}
		*list = tidied
	}
	return out
}

// maxBecause is the most findings that a reason lists.
const maxBecause = 3

// sentence returns the reason of a decision.
func (r ruling) sentence(f facts) string {
	if r.decision == Accept {
		what := "the fault in " + string(f.part) + " is mended"
		switch {
		case f.part == partText && f.primary == goalImproved:
			what = "the primary goal improves"
		case f.part == partText:
			what = "a secondary goal improves"
		}
		return fmt.Sprintf("Accepted: the claims (%d) are preserved, nothing frozen has changed, and %s.", len(f.claims), what)
	}
	var list []string
	for i, b := range r.because {
		if i == maxBecause {
			list = append(list, fmt.Sprintf("and %d more", len(r.because)-i))
			break
		}
		list = append(list, strings.TrimRight(b.message, "."))
	}
	prefix := map[Decision]string{Reject: "Rejected: ", NeedsHumanReview: "A person has to decide: "}[r.decision]
	return sentence(clean(prefix + strings.Join(list, "; ")))
}

// Summary returns the file of the verification, the decision and the reason, a line
// for each.
func (r Report) Summary() string {
	return fmt.Sprintf("%s\n%s\n%s\n", r.File(), r.Decision, r.Reason)
}

// folderName is the folder of candidates and their verifications, under the root.
const folderName = "candidates"

// File returns the path of the verification under the root:
// candidates/<candidate_id>.verification.yaml.
func (r Report) File() string { return reportFile(r.CandidateID) }

func reportFile(candidate string) string {
	return path.Join(folderName, candidate+".verification.yaml")
}

// Write writes the verification under the root, whole or not at all, and returns its
// path relative to the root. It replaces an existing one.
func (r Report) Write(root string) (string, error) {
	if !validID(r.CandidateID) {
		return "", fmt.Errorf("verification: %q cannot name a file", brief(r.CandidateID))
	}
	text, err := r.YAML()
	if err != nil {
		return "", err
	}
	dir, err := os.OpenRoot(cmp.Or(root, "."))
	if err != nil {
		return "", fmt.Errorf("verification: root: %w", err)
	}
	defer dir.Close()
	if err := files.ReplaceIn(dir, r.File(), text, 0o644); err != nil {
		return "", fmt.Errorf("verification: %w", err)
	}
	return r.File(), nil
}
