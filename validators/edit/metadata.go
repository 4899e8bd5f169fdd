package edit

import (
	"gopkg.in/yaml.v3"
)

// Where a candidate comes from. It changes nothing else.
const (
	EditorLoop = "editor_loop"
	SideLoaded = "side_loaded"
)

// unknown is what the metadata of a side-loaded candidate may say of itself.
const unknown = "unknown"

// A metadata is what is said of a candidate: context, never evidence.
type metadata struct {
	source               string
	candidate, direction string
	part                 Part
	file                 string
	hashes               []hash
}

// metadata reads a metadata file; nil where something is wrong.
func (r *reader) metadata(root *yaml.Node) *metadata {
	f := r.top(root, "the metadata file", "metadata", "candidate", "candidate_metadata")
	if f == nil {
		return nil
	}
	m := &metadata{candidate: f.text("candidate_id"), direction: f.text("direction_id"), part: f.part(), file: f.text("candidate_file")}
	if n := f.get("candidate_source"); n == nil {
		f.required("candidate_source")
	} else {
		m.source = word(r, n, "candidate_source", EditorLoop, SideLoaded)
	}
	f.claimsTouched(m.source)
	if m.source == EditorLoop {
		f.selfChecked()
	}
	m.hashes = hashesIn(f.node)
	if len(r.wrong) > 0 {
		return nil
	}
	return m
}

// claimsTouched only checks: what an editor says it touched proves nothing.
func (f *fields) claimsTouched(source string) {
	n := f.get("touched_claims")
	if n == nil || n.Kind != yaml.ScalarNode {
		f.texts("touched_claims")
		return
	}
	if n.Value != unknown || source == EditorLoop {
		f.at(n, "touched_claims must be a list of claims, not %s; only a side-loaded candidate may leave it %s", kind(n), unknown)
	}
}

// selfChecked only checks, too: an editor knows what it has looked at.
func (f *fields) selfChecked() {
	values := []*yaml.Node{f.get("self_check")}
	if n := values[0]; n != nil && n.Kind != yaml.ScalarNode {
		values = n.Content
	}
	for _, n := range values {
		if n != nil && n.Kind == yaml.ScalarNode && n.Value == unknown {
			f.at(n, "self_check says %s; only a side-loaded candidate may leave it so", unknown)
		}
	}
}
