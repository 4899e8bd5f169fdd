package edit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// What a validator may be asked to check.
const (
	checkAll       = ""
	checkInput     = "input"
	checkComputed  = "computed"
	checkJudgement = "judgement"
)

type params struct {
	Root       string `json:"root,omitempty" jsonschema:"the directory that paths are in and may not leave; default the working directory"`
	ActivePart string `json:"active_part" jsonschema:"the part that the candidate is for: text, claim_ledger, presentation_spec, rubric or gap_policy"`

	Source    string `json:"source,omitempty" jsonschema:"path of the current text"`
	Status    string `json:"status,omitempty" jsonschema:"path of the current status file"`
	Candidate string `json:"candidate,omitempty" jsonschema:"path of the candidate; without it and candidate_text the text that is judged is the candidate"`
	Metadata  string `json:"metadata,omitempty" jsonschema:"path of the candidate's metadata"`
	Direction string `json:"direction,omitempty" jsonschema:"path of the direction file"`

	SourceText    *string `json:"source_text,omitempty" jsonschema:"the current text itself; source is then only its name"`
	StatusText    *string `json:"status_text,omitempty" jsonschema:"the status file itself, YAML"`
	CandidateText *string `json:"candidate_text,omitempty" jsonschema:"the candidate itself"`
	MetadataText  any     `json:"metadata_text,omitempty" jsonschema:"the metadata itself: YAML, or an object"`
	DirectionText any     `json:"direction_text,omitempty" jsonschema:"the direction itself: YAML, or an object"`

	Judgement any    `json:"judgement,omitempty" jsonschema:"what a person or a model found: YAML, or an object; without it nothing is accepted"`
	Check     string `json:"check,omitempty" jsonschema:"input: can everything but a candidate and its metadata be read, and what will be asked of a candidate; computed: reject only what can be rejected without a judgement, and say what a judge is to be asked; judgement: the text that is judged is a judgement, is it whole; default: decide"`
	Review    string `json:"review,omitempty" jsonschema:"what a person said of a candidate that needs review: accept or reject"`
	Write     bool   `json:"write,omitempty" jsonschema:"write candidates/<candidate_id>.verification.yaml under root"`
}

// Prepare refuses words that mean nothing.
func (p *params) Prepare() error {
	switch {
	case !slices.Contains([]string{checkAll, checkInput, checkComputed, checkJudgement}, p.Check):
		return fmt.Errorf("check must be input, computed or judgement, not %q", p.Check)
	case !slices.Contains([]string{"", string(Accept), string(Reject)}, p.Review):
		return fmt.Errorf("review must be accept or reject, not %q", p.Review)
	case !valid(Part(p.ActivePart)):
		return fmt.Errorf("active_part must be one of %s, not %q", strings.Join(words(allParts()...), ", "), p.ActivePart)
	}
	return nil
}

// Validator is the verifier as a validator, "edit_verifier": valid is accept,
// status the decision, issues what failed, details the verification as an
// object, its file and its YAML. Files that are not as they must be are an
// error, not a no.
var Validator = validators.New("edit_verifier", "decide on a candidate of the auditable editing protocol: accept, reject or needs_human_review",
	func(ctx context.Context, p params, s validators.Subject) (validators.Verdict, error) {
		if ctx.Err() != nil {
			return validators.Verdict{}, context.Cause(ctx)
		}
		switch p.Check {
		case checkInput:
			return p.inputVerdict()
		case checkJudgement:
			return p.judgementVerdict(s)
		default:
			return p.verdict(s)
		}
	}, validators.Impure, validators.PublishingBy(planted), validators.Opens(opens))

// opens returns the folder that the paths are in.
func opens(with map[string]any) []string {
	if root, ok := with["root"].(string); ok {
		return []string{root}
	}
	return nil
}

// NewOptions reads options from the parameters of [Validator]; an error is
// about the parameters, not about the files.
func NewOptions(with map[string]any) (Options, error) {
	p, err := schema.NewParams[params]().Read(with)
	if err == nil {
		err = p.Prepare()
	}
	if err != nil {
		return Options{}, fmt.Errorf("edit_verifier: %w", err)
	}
	return p.options(), nil
}

func (p params) options() Options {
	o := Options{
		Root: p.Root, ActivePart: Part(p.ActivePart), Judgement: p.Judgement,
		Source: File{Path: p.Source}, Status: File{Path: p.Status}, Candidate: File{Path: p.Candidate},
		Metadata: File{p.Metadata, p.MetadataText}, Direction: File{p.Direction, p.DirectionText},
	}
	for file, text := range map[*File]*string{&o.Source: p.SourceText, &o.Status: p.StatusText, &o.Candidate: p.CandidateText} {
		if text != nil {
			file.Content = *text
		}
	}
	return o
}

func (p params) verdict(s validators.Subject) (validators.Verdict, error) {
	o := p.options()
	if o.Candidate.Path == "" && o.Candidate.Content == nil {
		o.Candidate.Content = s.Content
	}
	in, err := read(o)
	if err != nil {
		return validators.Verdict{}, err
	}
	f := in.facts()
	r := in.report(f, f.rule())
	if p.Write {
		if _, err := r.Write(p.Root); err != nil {
			return validators.Verdict{}, err
		}
	}
	v, err := r.verdict()
	if err != nil {
		return v, err
	}
	v.Details.(map[string]any)["changes"] = in.askedChanges()
	switch {
	case p.Check == checkComputed:
		v.Details.(map[string]any)["questions"] = in.questions()
		if r.Decision != Reject {
			v.Valid, v.Status, v.Issues = true, "", nil
			v.Reason = "what can be computed does not speak against the candidate"
		}
	case r.Decision == NeedsHumanReview && p.Review != "":
		v.Valid, v.Status = p.Review == string(Accept), p.Review
		v.Reason = "A person decided to " + p.Review + ". " + r.Reason
	}
	return v, nil
}

// verdict gives a report as a verdict.
func (r Report) verdict() (validators.Verdict, error) {
	text, err := r.YAML()
	if err != nil {
		return validators.Verdict{}, err
	}
	plain, err := schema.Plain(r)
	if err != nil {
		return validators.Verdict{}, fmt.Errorf("verification: %w", err)
	}
	v := validators.Verdict{
		Valid: r.Decision == Accept, Reason: r.Reason, Status: string(r.Decision),
		Details: map[string]any{"verification": plain, "file": r.File(), "yaml": string(text)},
	}
	var doubts []fault
	for _, d := range r.ruling.doubts {
		doubts = append(doubts, d.fault)
	}
	switch r.Decision {
	case Reject:
		v.Issues = issues("error", r.ruling.faults)
		if r.ruling.rule > 1 {
			v.Warnings = issues("warning", doubts)
		}
	case NeedsHumanReview:
		v.Issues = issues("review", doubts)
	}
	return v, nil
}

func issues(severity string, list []fault) []validators.Issue {
	var out []validators.Issue
	for _, f := range list {
		out = append(out, validators.Issue{Check: f.check, Severity: severity, Message: clean(f.message), Location: clean(f.location)})
	}
	return out
}

// inputVerdict tells what there is to keep before anybody edits. What cannot be
// read is an error, as always.
func (p params) inputVerdict() (validators.Verdict, error) {
	o := p.options()
	o.Candidate = File{Content: ""}
	o.Metadata = File{Content: map[string]any{"candidate_source": EditorLoop}}
	in, err := read(o)
	if err != nil {
		return validators.Verdict{}, err
	}
	v := validators.Pass("direction %s can be worked on", clean(in.direction.id))
	v.Details = map[string]any{"questions": in.questions()}
	return v, nil
}

// judgementVerdict tells whether what is judged is a whole judgement. What a
// judge got wrong is a no, so that it can be asked again.
func (p params) judgementVerdict(s validators.Subject) (validators.Verdict, error) {
	o := p.options()
	o.Judgement = nil
	in, err := read(o)
	if err != nil {
		return validators.Verdict{}, err
	}
	in.Judgement = s.Content
	if object, ok := s.Output.(map[string]any); ok {
		in.Judgement = object
	}
	var found []fault
	given := &sources{}
	in.readJudgement(given)
	for _, w := range given.wrong {
		found = append(found, fault{"judgement", w.Message, w.place()})
	}
	if len(found) == 0 {
		found = in.facts().open()
	}
	if len(found) == 0 {
		return validators.Pass("everything is judged"), nil
	}
	return validators.FailWith(issues("error", found)...), nil
}
