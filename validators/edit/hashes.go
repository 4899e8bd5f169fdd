package edit

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/strictyaml"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// A hash is a hash in a file: its key, the path beside it, and the value.
type hash struct{ key, file, value string }

var (
	// hashKey is a key that names a hash, at any depth.
	hashKey = patterns.Lazy(`(?i)sha-?_?\d|(?:^|[-_.])sha(?:$|[-_.])|hash|digest|checksum|fingerprint|md5|crc|blake|etag`)

	// baseKey is a key without the name of a file. It stands for the active file.
	baseKey = patterns.Lazy(`(?i)^(?:base|current|original|sha|md|crc|blake|sum|check|256|` +
		`\d+|hash|hashes|digest|digests|checksum|fingerprint|etag|value|hex|[-_.]|\[\d+\])+$`)

	// otherKey is a key of something else: how a hash is made, or the hash of a commit.
	otherKey = patterns.Lazy(`(?i)(?:^|[-_.])(?:algorithm|algo|by|type|method|kind)$|commit|revision`)

	// hashValue is a value that can only be a hash.
	hashValue = patterns.Lazy(`^(?i:[a-z0-9]+(?:-?\d+)?[:=-]\s?)?[0-9A-Fa-f]{64}$|^(?i:sha-?256)[:=-]`)

	textKey = patterns.Lazy(`(?i)(?:^|[-_])text(?:$|[-_\[])`)
)

// hashesIn finds every hash in a file: by its key, by the key of a mapping around it,
// or by its value.
func hashesIn(root *yaml.Node) []hash {
	var out []hash
	var visit func(n *yaml.Node, key, file string)
	visit = func(n *yaml.Node, key, file string) {
		for i, e := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				visit(e, fmt.Sprintf("%s[%d]", key, i), file)
			case i%2 == 0:
				for _, name := range []string{"path", "file", "name", "of"} {
					if e.Value == name && n.Content[i+1].Kind == yaml.ScalarNode {
						file = n.Content[i+1].Value
					}
				}
			}
		}
		for i := 1; i < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			visit(n.Content[i], strings.TrimPrefix(key+"."+n.Content[i-1].Value, "."), file)
		}
		if n.Kind == yaml.ScalarNode && !strictyaml.Null(n) && n.Value != unknown && !otherKey().MatchString(key) &&
			(hashKey().MatchString(key) || hashValue().MatchString(strings.TrimSpace(n.Value))) {
			out = append(out, hash{key, file, n.Value})
		}
	}
	visit(root, "", "")
	return out
}

// role returns the file of a hash: the innermost name in its key, the path beside
// it, or the active file. It returns "" for a hash of anything else.
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
	active := map[bool]string{true: "source", false: "status"}[in.ActivePart == PartText]
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
			sum, known := in.sums[role]
			got, readable := digest(h.value)
			found := fault{check: "base", location: role}
			switch {
			case role == "" || file.name == "status file" && role != "source":
				continue
			case !readable:
				found = fault{"base", fmt.Sprintf("%s of the %s is no SHA-256: %q", h.key, file.name, brief(h.value)), file.name}
			case !known:
				notes = append(notes, fmt.Sprintf("%s of the %s is not compared: there is no such file here", h.key, file.name))
				continue
			case got == sum:
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

var (
	hexSum    = patterns.Lazy(`^(?i:(?:sha2?-?256|sha-256)\s?[:= -]\s?|0x)?([0-9A-Fa-f]{64})(?:\s+\*?\S.*)?$`)
	base64Sum = patterns.Lazy(`^(?i:sha2?-?256\s?[:= -]\s?)([A-Za-z0-9+/_-]{43})=?$`)
)

// digest reads a SHA-256 in any spelling: with or without its name, in small or
// capital letters, in base64, as sha256sum prints it.
func digest(value string) (sum string, ok bool) {
	value = strings.TrimSpace(value)
	if m := hexSum().FindStringSubmatch(value); m != nil {
		return strings.ToLower(m[1]), true
	}
	if m := base64Sum().FindStringSubmatch(value); m != nil {
		if b, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(m[1])); err == nil {
			return hex.EncodeToString(b), true
		}
	}
	return "", false
}
