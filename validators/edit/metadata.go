package edit

import (
	"regexp"
	"strings"

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

// A hash is what the metadata says a file's was.
type hash struct {
	key, of, value string
}

// metadata reads a metadata file; nil where something is wrong.
func (r *reading) metadata(root *yaml.Node) *metadata {
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
	m.hashes = f.hashes()
	if n := f.get("base"); n != nil && n.Kind == yaml.MappingNode {
		m.hashes = append(m.hashes, r.mapping(n, "base").hashes()...)
	}
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

var hashKey = regexp.MustCompile(`(?i)sha-?_?256|hash|digest`)

// hashes finds the values whose keys speak of a hash, and what they are of.
func (f *fields) hashes() []hash {
	var out []hash
	for _, key := range f.order {
		n := f.get(key)
		if n == nil || n.Kind != yaml.ScalarNode || !hashKey.MatchString(key) || n.Value == unknown {
			continue
		}
		h := hash{key: key, value: n.Value}
		for _, of := range []string{"candidate", "status", "direction", "source"} {
			if strings.Contains(strings.ToLower(key), of) {
				h.of = of
				break
			}
		}
		out = append(out, h)
	}
	return out
}
