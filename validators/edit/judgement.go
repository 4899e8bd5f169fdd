package edit

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// A grade is the outcome of one check.
type grade string

// The results. notJudged is the result of a check without a judgement, and is
// also a [goalChange].
const (
	gradePass grade = "pass"
	gradeWarn grade = "warn"
	gradeFail grade = "fail"
	notJudged       = "not_judged"
)

// A goalChange is the effect of a candidate on a goal.
type goalChange string

// The effects on a goal.
const (
	goalImproved  goalChange = "improved"
	goalUnchanged goalChange = "unchanged"
	goalWorsened  goalChange = "worsened"
)

// An answer is a judge's word about one change of the text.
type answer string

const (
	preserved answer = "preserved"
	altered   answer = "changed"
	improves  answer = "improves"
)

// gravity orders results; a missing judgement is worse than a pass.
var gravity = map[grade]int{"": 0, gradePass: 1, notJudged: 2, gradeWarn: 3, gradeFail: 4}

// worst returns the gravest of results.
func worst(list ...grade) grade {
	return slices.MaxFunc(list, func(a, b grade) int { return cmp.Compare(gravity[a], gravity[b]) })
}

// A graded is a result with its reasons.
type graded struct {
	Result grade    `json:"result" yaml:"result"`
	Notes  []string `json:"notes" yaml:"notes"`
}

// remark adds the reasons of one part, if it warns or fails.
func (g *graded) remark(key string, of graded) {
	if of.Result != gradeWarn && of.Result != gradeFail {
		return
	}
	if len(of.Notes) == 0 {
		g.Notes = append(g.Notes, clean(key)+": "+string(of.Result))
	}
	for _, note := range of.Notes {
		g.Notes = append(g.Notes, clean(key)+": "+note)
	}
}

// An opinion is a part of a judgement: a word, or a mapping with result, reason,
// notes and opinions by key, or a list of these with ids.
type opinion struct {
	node   *yaml.Node
	word   string
	notes  []string
	quotes [2]string // old_quote and new_quote
	parts  []part
}

type part struct {
	key string
	opinion
}

// UnmarshalYAML reads an opinion.
func (o *opinion) UnmarshalYAML(n *yaml.Node) error {
	o.node = n
	switch n.Kind {
	case yaml.ScalarNode:
		o.word = n.Value
		return nil
	case yaml.SequenceNode:
		for i, e := range n.Content {
			p := part{key: fmt.Sprint(i + 1)}
			if id := strictyaml.Keyed(e)["id"]; id != nil {
				p.key = id.Value
			}
			if err := p.UnmarshalYAML(e); err != nil {
				return err
			}
			o.parts = append(o.parts, p)
		}
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := o.field(n.Content[i].Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (o *opinion) field(key string, n *yaml.Node) error {
	switch key {
	case "result", "old_quote", "new_quote", "id":
		if n.Kind != yaml.ScalarNode {
			return strictyaml.Wrong(n, "%s must be a text, not %s", key, strictyaml.Kind(n))
		}
	}
	switch {
	case strictyaml.Null(n) || key == "id":
	case key == "result":
		o.node, o.word = n, n.Value
	case key == "old_quote":
		o.quotes[0] = n.Value
	case key == "new_quote":
		o.quotes[1] = n.Value
	case key == "reason" || key == "notes":
		for _, e := range append([]*yaml.Node{n}, n.Content...) {
			if s := clean(e.Value); s != "" {
				o.notes = append(o.notes, s)
			}
		}
	default:
		p := part{key: key}
		if err := p.UnmarshalYAML(n); err != nil {
			return err
		}
		o.parts = append(o.parts, p)
	}
	return nil
}

// get returns the part of the first key that exists.
func (o opinion) get(keys ...string) opinion {
	for _, key := range keys {
		if i := slices.IndexFunc(o.parts, func(p part) bool { return p.key == key }); i >= 0 {
			return o.parts[i].opinion
		}
	}
	return opinion{}
}

// A judgement is the finding of a person or a model. A missing item is not
// judged. Unknown keys are ignored.
type judgement struct {
	Claims       opinion  `yaml:"claims"`
	Changes      opinion  `yaml:"changes"`
	Presentation opinion  `yaml:"presentation"`
	Primary      opinion  `yaml:"primary_goal"`
	Secondary    opinion  `yaml:"secondary_goals"`
	NonGoals     opinion  `yaml:"non_goals"`
	Gap          opinion  `yaml:"gap_policy"`
	Direction    opinion  `yaml:"direction"`
	Conflicts    bool     `yaml:"direction_conflicts_status"`
	Bridge       bool     `yaml:"hides_bridge"`
	Adds         *bool    `yaml:"adds_requirement"`
	Hides        *bool    `yaml:"hides_derivation"`
	Met          *bool    `yaml:"part_goal_met"`
	Followup     *bool    `yaml:"requires_followup_text_candidate"`
	Why          string   `yaml:"followup_reason"`
	Defects      []string `yaml:"status_defects"`
}

var flags = []string{"direction_conflicts_status", "hides_bridge", "adds_requirement", "hides_derivation", "part_goal_met",
	"requires_followup_text_candidate"}

// judgement reads a judgement and checks its words; nil after a problem. In a list, the
// elements after the first are further batches of answers to changes.
func (r *reader) judgement(root *yaml.Node) *judgement {
	var batches []judgement
	if root.Kind == yaml.SequenceNode && len(root.Content) > 0 {
		batches = make([]judgement, len(root.Content)-1)
		for i, n := range root.Content[1:] {
			r.Decode(n, &batches[i])
		}
		root = root.Content[0]
	}
	j, n := &judgement{}, r.Top(root, "a judgement", "judgement")
	for key, value := range strictyaml.Keyed(n) {
		if slices.Contains(flags, key) && value.ShortTag() != "!!bool" && !strictyaml.Null(value) {
			r.At(value, "%s must be true or false, not %s", key, strictyaml.Kind(value))
		}
	}
	if r.Decode(n, j); len(r.Problems) > 0 {
		return nil
	}
	for _, b := range batches {
		j.Changes.node, j.Changes.parts = cmp.Or(j.Changes.node, b.Changes.node), append(j.Changes.parts, b.Changes.parts...)
	}
	for _, list := range []struct {
		name    string
		of      opinion
		allowed []string
	}{
		{"claims", j.Claims, words(gradePass, gradeWarn, gradeFail)}, {"presentation", j.Presentation, words(gradePass, gradeWarn, gradeFail)},
		{"non_goals", j.NonGoals, words(gradePass, gradeWarn, gradeFail)}, {"gap_policy", j.Gap, words(gradePass, gradeWarn, gradeFail)},
		{"direction", j.Direction, words(gradePass, gradeWarn, gradeFail)}, {"primary_goal", j.Primary, words(goalImproved, goalUnchanged, goalWorsened)},
		{"secondary_goals", j.Secondary, words(goalImproved, goalUnchanged, goalWorsened)}, {"changes", j.Changes, words(preserved, altered, improves)},
	} {
		r.allow(list.of, list.name, list.allowed)
	}
	for name, list := range map[string]opinion{"claims": j.Claims, "secondary_goals": j.Secondary, "changes": j.Changes} {
		if list.word != "" {
			r.At(list.node, "%s must be a mapping, not %s", name, strictyaml.Kind(list.node))
		}
	}
	if len(r.Problems) > 0 {
		return nil
	}
	return j
}

// allow checks the words of an opinion.
func (r *reader) allow(o opinion, what string, allowed []string) {
	if o.node == nil {
		return
	}
	if o.word != "" {
		strictyaml.Word(&r.Reader, o.node, "result of "+what, allowed...)
	}
	for _, p := range o.parts {
		r.allow(p.opinion, brief(p.key)+" of "+what, allowed)
	}
}

// graded returns the worst result of an opinion, with all its objections.
func (o opinion) graded() graded {
	g := graded{grade(o.word), o.notes}
	for _, p := range o.parts {
		of := p.graded()
		g.Result = worst(g.Result, of.Result)
		g.remark(p.key, of)
	}
	return g
}
