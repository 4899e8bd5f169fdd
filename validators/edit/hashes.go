package edit

import (
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// A hash is a hash in a file: its key, the path next to it, and the value.
type hash struct{ key, file, value string }

var (
	// hashKey is a path of keys, one of which names a hash.
	hashKey = patterns.Lazy(`(?i)(?:^|[-_.])(?:sha[-_]?\d+|md5|hash|hashes|checksum|digest)(?:$|[-_.[])`)

	// baseKey is a key without the name of a file. It is the hash of the active
	// file.
	baseKey = patterns.Lazy(`(?i)^(?:base|current|original|sha|md|\d+|hash|hashes|checksum|digest|value|[-_]|\[\d+\])+$`)

	// otherKey is the key of an algorithm or of a commit.
	otherKey = patterns.Lazy(`(?i)(?:^|[-_.])(?:algorithm|by|type|method)$|commit`)

	textKey = patterns.Lazy(`(?i)(?:^|[-_])text(?:$|[-_\[])`)

	// digestPattern is a SHA-256, with or without its name, or as sha256sum prints it.
	digestPattern = patterns.Lazy(`^(?i:sha-?256[:=-] ?)?([0-9A-Fa-f]{64})(?:  ?\*?\S.*)?$`)
)

// hashesIn returns every hash in a file. A key of the value, a key around it, or the
// value itself shows that it is a hash.
func hashesIn(root *yaml.Node) []hash {
	var out []hash
	var visit func(n *yaml.Node, key, file string)
	visit = func(n *yaml.Node, key, file string) {
		fields := strictyaml.Keyed(n)
		for _, name := range []string{"path", "file", "name", "of"} {
			if f := fields[name]; f != nil && f.Kind == yaml.ScalarNode {
				file = f.Value
			}
		}
		for i, e := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				visit(e, fmt.Sprintf("%s[%d]", key, i), file)
			case i%2 == 1:
				visit(e, strings.TrimPrefix(key+"."+n.Content[i-1].Value, "."), file)
			}
		}
		if n.Kind == yaml.ScalarNode && !strictyaml.Null(n) && n.Value != unknown && !otherKey().MatchString(key) &&
			(hashKey().MatchString(key) || digestPattern().MatchString(strings.TrimSpace(n.Value))) {
			out = append(out, hash{key, file, n.Value})
		}
	}
	visit(root, "", "")
	return out
}

// role returns the file of a hash: the innermost name in its key, the path next
// to it, or the active file. It returns "" for any other hash.
func (in *input) role(h hash) string {
	parts := strings.Split(h.key, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		for _, role := range []string{"candidate", "status", "direction", "source"} {
			if strings.Contains(strings.ToLower(parts[i]), role) {
				return role
			}
		}
		if textKey().MatchString(parts[i]) {
			return "source"
		}
	}
	active := map[bool]string{true: "source", false: "status"}[in.ActivePart == partText]
	switch {
	case h.file != "":
		files := map[string]File{"source": in.Source, "status": in.Status, "candidate": in.Candidate, "direction": in.Direction}
		for role, file := range files {
			if file.Path != "" && sameFile(slashed(file.Path), path.Clean(slashed(h.file))) {
				return role
			}
		}
		return "file " + h.file
	case baseKey().MatchString(parts[len(parts)-1]):
		return active
	}
	return ""
}

// staleness compares every hash of the metadata, the direction and the status file
// with the hash of its file. A stale hash in the status file makes that file
// doubtful, not the candidate: the file stays when the text changes.
func (in *input) staleness() (faults, doubts []fault, notes []string) {
	for _, file := range []struct {
		name   string
		hashes []hash
	}{{"metadata", in.metadata.hashes}, {"direction", in.direction.hashes}, {"status file", hashesIn(in.status.node)}} {
		for _, h := range file.hashes {
			role := in.role(h)
			want, known := in.sums[role]
			digest := digestPattern().FindStringSubmatch(strings.TrimSpace(h.value))
			found := fault{check: "base", location: role}
			switch {
			case role == "" || file.name == "status file" && role != "source":
				continue
			case digest == nil:
				found = fault{"base", fmt.Sprintf("%s of the %s is not a SHA-256 digest: %q", h.key, file.name, brief(h.value)), file.name}
			case !known:
				notes = append(notes, fmt.Sprintf("%s of the %s was not compared: the file is missing here", h.key, file.name))
				continue
			case strings.EqualFold(digest[1], want):
				continue
			default:
				made := strings.Replace(file.name, "metadata", "candidate", 1)
				found.message = fmt.Sprintf("the %s was made for another %s file than the current one (%s)", made, role, h.key)
			}
			if file.name == "status file" {
				doubts = append(doubts, found)
			} else {
				faults = append(faults, found)
			}
		}
	}
	return faults, doubts, notes
}
