package edit

import (
	"bytes"
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"
)

// YAML is the verification as a file, with the keys of the protocol in their
// order. The same report always gives the same bytes, and [ParseReport] reads
// them back.
func (r Report) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(pairs("verification", r.node())); err != nil {
		return nil, fmt.Errorf("verification: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("verification: %w", err)
	}
	return b.Bytes(), nil
}

func (r Report) node() *yaml.Node {
	p, d := r.PresentationSpec, r.Direction
	return pairs(
		"candidate_id", plainText(r.CandidateID),
		"direction_id", plainText(r.DirectionID),
		"active_part", plainText(r.ActivePart),
		"direction_file", plainText(r.DirectionFile),
		"candidate_file", plainText(r.CandidateFile),
		"metadata_file", plainText(r.MetadataFile),
		"candidate_source", plainText(r.CandidateSource),
		"frozen_parts", r.FrozenParts.node(),
		"claim_checks", tableNode(r.ClaimChecks, func(c ClaimCheck) *yaml.Node {
			return pairs("result", plainText(c.Result), "reason", quoted(c.Reason))
		}),
		"presentation_spec", pairs(
			"result", plainText(p.Result), "preserve_items", plainText(p.Preserve), "avoid_items", plainText(p.Avoid), "notes", listNode(p.Notes)),
		"rubric", pairs(
			"primary_goal", plainText(r.Rubric.Primary),
			"secondary_goals", tableNode(r.Rubric.Secondary, plainText[Change]),
			"non_goals", r.Rubric.NonGoals.node()),
		"gap_policy", r.GapPolicy.node(),
		"direction", pairs(
			"result", plainText(d.Result), "intent", plainText(d.Intent),
			"constraints", tableNode(d.Constraints, plainText[Result]), "notes", listNode(d.Notes)),
		"requires_followup_text_candidate", scalar("!!bool", strconv.FormatBool(r.RequiresFollowup)),
		"followup_reason", quoted(r.FollowupReason),
		"decision", plainText(r.Decision),
		"reason", quoted(r.Reason),
		"required_human_questions", listNode(r.Questions),
	)
}

func (s Section) node() *yaml.Node {
	return pairs("result", plainText(s.Result), "notes", listNode(s.Notes))
}

// pairs makes a mapping of keys and nodes by turns.
func pairs(list ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(list); i += 2 {
		n.Content = append(n.Content, scalar("!!str", list[i].(string)), list[i+1].(*yaml.Node))
	}
	return n
}

// plainText is a word, quoted where YAML would take it for something else.
func plainText[T ~string](s T) *yaml.Node {
	if s == "" {
		return quoted("")
	}
	return scalar("!!str", string(s))
}

// quoted is a text that is always in quotes.
func quoted(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
}

func listNode(list []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, s := range list {
		n.Content = append(n.Content, quoted(s))
	}
	if len(list) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func tableNode[T any](t Table[T], value func(T) *yaml.Node) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, r := range t {
		n.Content = append(n.Content, plainText(r.Key), value(r.Value))
	}
	if len(t) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}
