package edit

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// ParseReport reads a verification file strictly. An error is an
// [*InputError] with the places.
func ParseReport(file string, text []byte) (Report, error) {
	r := &reader{file: file}
	var out Report
	if root := r.document(text); root != nil {
		if f := r.mapping(root, "a verification file"); f != nil && f.get("verification") == nil {
			r.at(root, "a verification file has the key verification")
		} else if v := f.child("verification"); v != nil {
			out = v.report()
		}
	}
	if len(r.wrong) > 0 {
		return Report{}, &InputError{r.wrong}
	}
	return out, nil
}

var (
	allResults   = []Result{Pass, Warn, Fail, NotJudged}
	allChanges   = []Change{Improved, Unchanged, Worsened, NotJudged}
	allDecisions = []Decision{Accept, Reject, NeedsHumanReview}
)

// reportKeys are those of a verification and of its sections.
var reportKeys = map[string][]string{
	"verification": {"candidate_id", "direction_id", "active_part", "direction_file", "candidate_file", "metadata_file", "candidate_source",
		"frozen_parts", "claim_checks", "presentation_spec", "rubric", "gap_policy", "direction",
		"requires_followup_text_candidate", "followup_reason", "decision", "reason", "required_human_questions"},
	"frozen_parts":      {"result", "notes"},
	"presentation_spec": {"result", "preserve_items", "avoid_items", "notes"},
	"rubric":            {"primary_goal", "secondary_goals", "non_goals"},
	"non_goals":         {"result", "notes"},
	"gap_policy":        {"result", "notes"},
	"direction":         {"result", "intent", "constraints", "notes"},
}

// within is a section of the report, with all of its keys and no others.
func (f *fields) within(name string) *fields {
	return f.child(name).whole(name)
}

func (f *fields) whole(name string) *fields {
	if f == nil {
		return nil
	}
	for _, key := range f.order {
		if !slices.Contains(reportKeys[name], key) {
			f.at(f.value[key], "%s has no key %q", name, brief(key))
		}
	}
	for _, key := range reportKeys[name] {
		if f.value[key] == nil {
			f.at(f.node, "%s has no %s", name, key)
		}
	}
	return f
}

func (f *fields) report() Report {
	f.whole("verification")
	r := Report{
		CandidateID: f.text("candidate_id"), DirectionID: f.text("direction_id"), ActivePart: one(f, "active_part", allParts()),
		DirectionFile: f.text("direction_file"), CandidateFile: f.text("candidate_file"), MetadataFile: f.text("metadata_file"),
		CandidateSource: one(f, "candidate_source", []string{EditorLoop, SideLoaded}),
		FrozenParts:     f.reportSection("frozen_parts"), GapPolicy: f.reportSection("gap_policy"),
		RequiresFollowup: is(f.flag("requires_followup_text_candidate")), FollowupReason: f.text("followup_reason"),
		Decision: one(f, "decision", allDecisions), Reason: f.text("reason"), Questions: f.texts("required_human_questions"),
	}
	r.ClaimChecks = table(f, "claim_checks", func(n *yaml.Node, key string) ClaimCheck {
		c := f.mapping(n, "claim "+key)
		if c == nil {
			return ClaimCheck{}
		}
		return ClaimCheck{one(c, "result", allResults), c.text("reason")}
	})
	if p := f.within("presentation_spec"); p != nil {
		r.PresentationSpec = PresentationReport{one(p, "result", allResults), one(p, "preserve_items", allResults), one(p, "avoid_items", allResults), p.texts("notes")}
	}
	if b := f.within("rubric"); b != nil {
		r.Rubric = RubricReport{one(b, "primary_goal", allChanges), table(b, "secondary_goals", wordOf(f, allChanges)), b.reportSection("non_goals")}
	}
	if d := f.within("direction"); d != nil {
		r.Direction = DirectionReport{one(d, "result", allResults), one(d, "intent", allResults), table(d, "constraints", wordOf(f, allResults)), d.texts("notes")}
	}
	r.tidy()
	return r
}

func (f *fields) reportSection(name string) Section {
	s := f.within(name)
	if s == nil {
		return Section{}
	}
	return Section{one(s, "result", allResults), s.texts("notes")}
}

// one reads a word that must be there.
func one[T ~string](f *fields, name string, allowed []T) T {
	n := f.get(name)
	if n == nil {
		f.at(f.node, "%s has no %s", f.what, name)
		return ""
	}
	return word(f.reader, n, name, allowed...)
}

func wordOf[T ~string](f *fields, allowed []T) func(*yaml.Node, string) T {
	return func(n *yaml.Node, key string) T { return word(f.reader, n, brief(key), allowed...) }
}

// table reads a mapping in its order.
func table[T any](f *fields, name string, value func(n *yaml.Node, key string) T) Table[T] {
	own := f.child(name)
	if own == nil {
		return Table[T]{}
	}
	out := Table[T]{}
	for _, key := range own.order {
		out = append(out, Row[T]{key, value(own.value[key], key)})
	}
	return out
}
