package edit

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// A direction is what the controller asked for.
type direction struct {
	id, candidate string
	part          Part
	intent        string
	expected      string
	constraints   []label
	wants         string // what it asks for, in its words
	hashes        []hash
}

// direction reads a direction file; nil where something is wrong. Its
// candidate id names files, so it must be one that may.
func (r *reader) direction(root *yaml.Node) *direction {
	f := r.top(root, "the direction file", "direction")
	if f == nil {
		return nil
	}
	d := &direction{
		id: f.required("direction_id"), candidate: f.required("candidate_id"), part: f.part(),
		intent: f.required("intent"), expected: f.text("expected_improvement"), constraints: f.labelled("constraints", "K"),
	}
	d.hashes = hashesIn(f.node)
	d.wants = strings.Join([]string{f.text("target"), d.intent, d.expected}, "\n\n")
	for _, name := range []string{"rationale", "risk"} {
		f.text(name)
	}
	if n := f.get("candidate_id"); d.candidate != "" && !validID(d.candidate) {
		r.at(n, "candidate_id names a file: it may hold 100 letters, digits, dots, underscores and hyphens, not %q", brief(d.candidate))
	}
	if d.part == "" && f.get("active_part") == nil {
		f.required("active_part")
	}
	if len(r.wrong) > 0 {
		return nil
	}
	return d
}

// part reads active_part; "" where there is none.
func (f *fields) part() Part {
	n := f.get("active_part")
	if n == nil {
		return ""
	}
	return word(f.reader, n, "active_part", allParts()...)
}
