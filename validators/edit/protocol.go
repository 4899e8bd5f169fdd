package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// A status is a status file.
type status struct {
	Presentation struct {
		Voice    string `yaml:"voice"`
		Register string `yaml:"register"`
		Avoid    labels `yaml:"avoid"`
		Preserve labels `yaml:"preserve"`
	} `yaml:"presentation_spec"`
	Rubric struct {
		Primary   string `yaml:"primary_goal"`
		Secondary labels `yaml:"secondary_goals"`
		NonGoals  labels `yaml:"non_goals"`
		Stop      string `yaml:"stop_condition"`
	} `yaml:"rubric"`
	Gap struct {
		MarkFormat string `yaml:"mark_format"`
	} `yaml:"gap_policy"`
	Claims []claim `yaml:"-"`

	node *yaml.Node
}

// A claim is an entry of the ledger.
type claim struct {
	ID     string      `yaml:"id"`
	Span   string      `yaml:"span"`
	Claim  string      `yaml:"claim"`
	Test   string      `yaml:"preservation_test"`
	Word   yaml.Node   `yaml:"status"`
	status claimStatus // of Word
}

type claimStatus string

// The states of a claim.
const (
	asserted  claimStatus = "asserted"
	implied   claimStatus = "implied"
	candidate claimStatus = "candidate"
	disputed  claimStatus = "disputed"
	retired   claimStatus = "retired"
)

// maxID is the longest id of a claim, in characters.
const maxID = 100

// status reads a status file; nil after a problem.
func (r *reader) status(root *yaml.Node) *status {
	s := &status{node: r.Top(root, "the status file", "status")}
	if r.Decode(s.node, s); len(r.Problems) > 0 {
		return nil
	}
	parts := strictyaml.Keyed(s.node)
	for _, p := range allParts()[1:] {
		if n := parts[string(p)]; n == nil || strictyaml.Null(n) {
			r.At(s.node, "the status file has no %s", p)
		}
	}
	r.Require(parts[string(partRubric)], "rubric", "primary_goal", s.Rubric.Primary)
	if len(s.Gap.MarkFormat) > maxFormat {
		r.At(parts[string(partGapPolicy)], "mark_format has more than %d bytes", maxFormat)
	}
	for _, list := range []struct {
		name, prefix string
		labels       labels
	}{
		{"avoid", "A", s.Presentation.Avoid}, {"preserve", "P", s.Presentation.Preserve},
		{"secondary_goals", "SG", s.Rubric.Secondary}, {"non_goals", "NG", s.Rubric.NonGoals},
	} {
		r.number(s.node, list.labels, list.name, list.prefix)
	}
	if n := parts[string(partClaimLedger)]; n != nil && !strictyaml.Null(n) {
		s.Claims = r.ledger(n)
	}
	if len(r.Problems) > 0 {
		return nil
	}
	return s
}

func (r *reader) ledger(n *yaml.Node) []claim {
	if n.Kind != yaml.SequenceNode {
		r.At(n, "claim_ledger must be a list of claims, not %s", strictyaml.Kind(n))
		return nil
	}
	var out []claim
	lines := map[string]int{}
	for _, e := range n.Content {
		var c claim
		before := len(r.Problems)
		if r.Decode(e, &c); len(r.Problems) > before {
			continue
		}
		if clean(c.ID) != c.ID || c.ID == "" || utf8.RuneCountInString(c.ID) > maxID {
			r.At(e, "a claim has an id, one line of at most %d characters", maxID)
			continue
		}
		what := "claim " + c.ID
		if c.status = strictyaml.Word(&r.Reader, &c.Word, "status of "+what, asserted, implied, candidate, disputed, retired); c.Word.Kind == 0 {
			r.Require(e, what, "status", "")
		}
		if c.status != retired {
			r.Require(e, what, "claim", c.Claim)
			r.Require(e, what, "preservation_test", c.Test)
		}
		if line, duplicate := lines[c.ID]; duplicate {
			r.At(e, "%s is in the ledger at line %d already", what, line)
		}
		lines[c.ID] = e.Line
		out = append(out, c)
	}
	return out
}

// claim returns the claim of an id.
func (s *status) claim(id string) (claim, bool) {
	for _, c := range s.Claims {
		if c.ID == id {
			return c, true
		}
	}
	return claim{}, false
}

// labels are the elements of a list, each with the key that a report uses for it.
type labels []label

type label struct{ key, text string }

// UnmarshalYAML reads texts, a mapping of key to text, elements of one key, or
// elements with an id.
func (l *labels) UnmarshalYAML(n *yaml.Node) error {
	elements := n.Content
	switch n.Kind {
	case yaml.ScalarNode:
		elements = []*yaml.Node{n}
	case yaml.MappingNode:
		elements = nil
		for i := 0; i+1 < len(n.Content); i += 2 {
			elements = append(elements, &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column, Content: n.Content[i : i+2]})
		}
	}
	for _, e := range elements {
		var one label
		var rest []string
		for i := 0; i+1 < len(e.Content) && e.Kind == yaml.MappingNode; i += 2 {
			key, value := e.Content[i], e.Content[i+1]
			switch {
			case value.Kind != yaml.ScalarNode:
				return strictyaml.Wrong(value, "%s must be a text, not %s", brief(key.Value), strictyaml.Kind(value))
			case key.Value == "id":
				one.key = value.Value
			case len(e.Content) == 2:
				one.key, rest = key.Value, []string{value.Value}
			default:
				rest = append(rest, value.Value)
			}
		}
		one.text = strings.Join(rest, "; ")
		if e.Kind == yaml.ScalarNode {
			one.text = e.Value
		} else if one.key == "" {
			return strictyaml.Wrong(e, "an element of a list must be a text, or a mapping with an id, not %s", strictyaml.Kind(e))
		}
		*l = append(*l, one)
	}
	return nil
}

// number gives each element without a key a name of the prefix and its number,
// from 1.
func (r *reader) number(n *yaml.Node, l labels, name, prefix string) {
	seen := map[string]bool{}
	for i := range l {
		if l[i].key == "" {
			l[i].key = fmt.Sprintf("%s%d", prefix, i+1)
		}
		if seen[l[i].key] {
			r.At(n, "%s has %q twice", name, brief(l[i].key))
		}
		seen[l[i].key] = true
	}
}

// A direction is the controller's request.
type direction struct {
	ID          string    `yaml:"direction_id"`
	Candidate   string    `yaml:"candidate_id"`
	Part        yaml.Node `yaml:"active_part"`
	Target      string    `yaml:"target"`
	Intent      string    `yaml:"intent"`
	Rationale   string    `yaml:"rationale"`
	Constraints labels    `yaml:"constraints"`
	Expected    string    `yaml:"expected_improvement"`
	Risk        string    `yaml:"risk"`

	part   partName
	hashes []hash
}

// direction reads a direction file; nil after a problem. Its candidate id names
// a file.
func (r *reader) direction(root *yaml.Node) *direction {
	d, n := &direction{}, r.Top(root, "the direction file", "direction")
	if r.Decode(n, d); len(r.Problems) > 0 {
		return nil
	}
	for _, field := range []struct{ name, value string }{
		{"direction_id", d.ID}, {"candidate_id", d.Candidate}, {"active_part", d.Part.Value}, {"intent", d.Intent},
	} {
		r.Require(n, "the direction file", field.name, field.value)
	}
	d.part = strictyaml.Word(&r.Reader, &d.Part, "active_part", allParts()...)
	if d.Candidate != "" && !validID(d.Candidate) {
		r.At(strictyaml.Keyed(n)["candidate_id"],
			"candidate_id names a file: use at most 100 letters, digits, dots, underscores and hyphens, not %q", brief(d.Candidate))
	}
	r.number(n, d.Constraints, "constraints", "K")
	d.hashes = hashesIn(n)
	if len(r.Problems) > 0 {
		return nil
	}
	return d
}

// The sources of a candidate. A source changes nothing else.
const (
	editorLoop = "editor_loop"
	sideLoaded = "side_loaded"
)

// unknown is a value that the metadata of a side-loaded candidate may have.
const unknown = "unknown"

// A metadata describes a candidate: context, never evidence.
type metadata struct {
	From      yaml.Node `yaml:"candidate_source"`
	Candidate string    `yaml:"candidate_id"`
	Direction string    `yaml:"direction_id"`
	Part      yaml.Node `yaml:"active_part"`
	File      string    `yaml:"candidate_file"`
	Touched   yaml.Node `yaml:"touched_claims"`
	Checks    yaml.Node `yaml:"self_check"`

	source string
	part   partName
	hashes []hash
}

// metadata reads a metadata file, and returns nil after a problem. The file has
// the editor's list of touched claims and of checks.
func (r *reader) metadata(root *yaml.Node) *metadata {
	m, n := &metadata{}, r.Top(root, "the metadata file", "metadata", "candidate", "candidate_metadata")
	if r.Decode(n, m); len(r.Problems) > 0 {
		return nil
	}
	if m.From.Kind == 0 || strictyaml.Null(&m.From) {
		r.Require(n, "the metadata file", "candidate_source", "")
	}
	m.source, m.part = strictyaml.Word(&r.Reader, &m.From, "candidate_source", editorLoop, sideLoaded), strictyaml.Word(&r.Reader,
		&m.Part, "active_part", allParts()...)
	if t := &m.Touched; t.Kind == yaml.MappingNode || t.Kind == yaml.ScalarNode && !strictyaml.Null(t) && (t.Value != unknown ||
		m.source == editorLoop) {
		r.At(t, "touched_claims must be a list of claims, not %s; only a side-loaded candidate may leave it %s", strictyaml.Kind(t), unknown)
	}
	for _, c := range append([]*yaml.Node{&m.Checks}, m.Checks.Content...) {
		if m.source == editorLoop && c.Kind == yaml.ScalarNode && c.Value == unknown {
			r.At(c, "self_check says %s; only a side-loaded candidate may leave it so", unknown)
		}
	}
	m.hashes = hashesIn(n)
	if len(r.Problems) > 0 {
		return nil
	}
	return m
}
