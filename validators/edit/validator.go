package edit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/validators"
)

// The checks that a validator may be limited to.
const (
	checkAll       = ""
	checkInput     = "input"
	checkComputed  = "computed"
	checkJudgement = "judgement"
)

type params struct {
	Root       string `json:"root,omitempty" jsonschema:"folder of all paths; a path must not leave it. Default: the working directory"`
	ActivePart string `json:"active_part" jsonschema:"part that the candidate changes: text, claim_ledger, presentation_spec, rubric or gap_policy"`

	Source    string `json:"source,omitempty" jsonschema:"path of the current text"`
	Status    string `json:"status,omitempty" jsonschema:"path of the current status file"`
	Candidate string `json:"candidate,omitempty" jsonschema:"path of the candidate. Default: the judged text is the candidate"`
	Metadata  string `json:"metadata,omitempty" jsonschema:"path of the metadata of the candidate"`
	Direction string `json:"direction,omitempty" jsonschema:"path of the direction file"`

	SourceText    *string `json:"source_text,omitempty" jsonschema:"content of the current text. Then source is a name"`
	StatusText    *string `json:"status_text,omitempty" jsonschema:"content of the status file, as YAML"`
	CandidateText *string `json:"candidate_text,omitempty" jsonschema:"content of the candidate"`
	MetadataText  any     `json:"metadata_text,omitempty" jsonschema:"content of the metadata, as YAML or an object"`
	DirectionText any     `json:"direction_text,omitempty" jsonschema:"content of the direction, as YAML or an object"`

	Judgement any    `json:"judgement,omitempty" jsonschema:"judgement of a person or a model, as YAML or an object; a list adds the further batches of changes. No candidate is accepted without a judgement"`
	Check     string `json:"check,omitempty" jsonschema:"input: check that the source, the status and the direction can be read; computed: run the checks that need no judgement and list the questions for a judge; judgement: check that the judged text is a complete judgement. Default: decide on the candidate"`
	Batch     any    `json:"batch,omitempty" jsonschema:"with check: judgement, the number of the further batch of changes that the judged text answers, from 1. Default: 0, the judgement itself"`
	Review    string `json:"review,omitempty" jsonschema:"decision of a person on a candidate that needs review: accept or reject"`
	Write     bool   `json:"write,omitempty" jsonschema:"write candidates/<candidate_id>.verification.yaml under root"`

	batch int
}

// Prepare refuses unknown words.
func (p *params) Prepare() error {
	switch {
	case !slices.Contains([]string{checkAll, checkInput, checkComputed, checkJudgement}, p.Check):
		return fmt.Errorf("check must be input, computed or judgement, not %q", p.Check)
	case !slices.Contains([]string{"", string(Accept), string(Reject)}, p.Review):
		return fmt.Errorf("review must be accept or reject, not %q", p.Review)
	case !valid(partName(p.ActivePart)):
		return fmt.Errorf("active_part must be one of %s, not %q", strings.Join(words(allParts()...), ", "), p.ActivePart)
	case p.Batch == nil:
		return nil
	}
	number, err := strconv.Atoi(fmt.Sprint(p.Batch)) // a template returns a text
	if err != nil || number < 0 {
		return fmt.Errorf("batch must be a number of at least 0, not %v", p.Batch)
	}
	p.batch = number
	return nil
}

// Validator is the verifier as a validator, "edit_verifier". A candidate is valid if it
// is accepted. The status is the decision, the issues are the findings, the details the
// verification as an object, its file and its YAML. A malformed file is an error, not a
// verdict.
var Validator = validators.New("edit_verifier",
	"decide on a candidate of the auditable editing protocol: accept, reject or needs_human_review",
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
	}, validators.Impure, validators.WithFaultsFrom(planted), validators.Opens(opens))

// opens returns the folder that the paths are in.
func opens(with map[string]any) []string {
	if root, ok := with["root"].(string); ok {
		return []string{root}
	}
	return nil
}

// NewOptions reads options from the parameters of [Validator]. An error is about the
// parameters, not about the files.
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
		Root: p.Root, ActivePart: partName(p.ActivePart), Judgement: p.Judgement,
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
	details := v.Details.(map[string]any)
	details["changes"] = changeQuestions(in.changes)
	switch {
	case p.Check == checkComputed:
		details["questions"] = in.questions()
		if r.Decision != Reject {
			v.Valid, v.Status, v.Issues = true, "", nil
			v.Reason = "the computed checks find nothing against the candidate"
		}
	case r.Decision == NeedsHumanReview && p.Review != "":
		v.Valid, v.Status = p.Review == string(Accept), p.Review
		v.Reason = "A person decided to " + p.Review + ". " + r.Reason
	}
	return v, nil
}

// verdict returns a report as a verdict.
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
	switch {
	case r.Decision == NeedsHumanReview:
		v.Issues = issues("review", doubts)
	case r.Decision == Reject:
		v.Issues = issues("error", r.ruling.faults)
		if r.ruling.rule > 1 {
			v.Warnings = issues("warning", doubts)
		}
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

// inputVerdict lists the requirements for an editor. A malformed file is an
// error.
func (p params) inputVerdict() (validators.Verdict, error) {
	o := p.options()
	o.Candidate = File{Content: ""}
	o.Metadata = File{Content: map[string]any{"candidate_source": editorLoop}}
	in, err := read(o)
	if err != nil {
		return validators.Verdict{}, err
	}
	v := validators.Pass("direction %s can be worked on", clean(in.direction.ID))
	v.Details = map[string]any{"questions": in.questions()}
	return v, nil
}

// judgementVerdict reports whether the judged text is a whole judgement, so that a
// judge can be asked again.
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
	given := &folder{}
	in.readJudgement(given)
	for _, w := range given.wrong {
		found = append(found, fault{"judgement", w.Message, w.Place()})
	}
	if batches := in.batches(); len(found) == 0 && p.batch < len(batches) {
		in.changes = batches[p.batch]
		found = slices.DeleteFunc(in.facts().open(), func(f fault) bool { return p.batch > 0 && f.check != "changes" })
	}
	if len(found) == 0 {
		return validators.Pass("everything is judged"), nil
	}
	return validators.FailWith(issues("error", found)...), nil
}

// questions returns the questions to a judge as plain values.
func (in *input) questions() map[string]any {
	source, now := textdiff.NewFinder(in.source), textdiff.NewFinder(in.candidate)
	if in.ActivePart != partText {
		now = source
	}
	claims := []any{}
	for _, c := range in.status.Claims {
		_, before := source.Find(c.Span)
		_, after := now.Find(c.Span)
		claims = append(claims, map[string]any{
			"id": c.ID, "status": string(c.status), "span": c.Span, "claim": c.Claim, "preservation_test": c.Test,
			"span_in_source": string(before), "span_in_candidate": string(after),
		})
	}
	batches := []any{}
	for _, b := range in.batches() {
		batches = append(batches, changeQuestions(b))
	}
	s, d := in.status, in.direction
	return map[string]any{
		"claims": claims, "changes": batches[0], "batches": batches[1:max(1, len(batches)-1)], "primary_goal": s.Rubric.Primary,
		"secondary_goals": s.Rubric.Secondary.plain(), "non_goals": s.Rubric.NonGoals.plain(),
		"voice": s.Presentation.Voice, "register": s.Presentation.Register,
		"avoid": s.Presentation.Avoid.plain(), "preserve": s.Presentation.Preserve.plain(),
		"intent": d.Intent, "expected_improvement": d.Expected, "constraints": d.Constraints.plain(),
	}
}

func (l labels) plain() []any {
	out := []any{}
	for _, e := range l {
		out = append(out, map[string]any{"key": e.key, "text": strings.TrimSpace(e.text)})
	}
	return out
}

// open lists the missing items of a judgement and its unknown items.
func (f facts) open() []fault {
	var out []fault
	judged := func(is bool, check, what, at string) {
		if !is {
			out = append(out, fault{check, what + " is not judged", at})
		}
	}
	for _, c := range f.claims {
		judged(c.Result != notJudged, "claims", "claim "+c.ID, "claims."+c.ID)
	}
	for _, a := range aspects {
		judged(f.aspects[a.name] != notJudged, "presentation", a.name, "presentation."+a.name)
	}
	for _, c := range f.constraints {
		judged(c.Value != notJudged, "direction", "constraint "+c.Key, "direction.constraints."+c.Key)
	}
	for _, c := range f.changes {
		if c.Result == notJudged {
			out = append(out, fault{"changes", "change " + c.key + " is not judged: " + c.answer, "changes." + c.key})
		}
	}
	for _, s := range []struct {
		key string
		is  bool
	}{
		{"primary_goal", f.primary != notJudged}, {"non_goals", f.nonGoals.Result != notJudged}, {"gap_policy", f.gap.Result != notJudged},
		{"direction.intent", f.intent != notJudged}, {"adds_requirement", f.adds != nil}, {"hides_derivation", f.hides != nil},
		{"part_goal_met", f.part == partText || f.met != nil}, {"requires_followup_text_candidate", f.followup != nil},
	} {
		judged(s.is, s.key, s.key, s.key)
	}
	for _, s := range f.strange {
		out = append(out, fault{"judgement", s, ""})
	}
	return out
}
