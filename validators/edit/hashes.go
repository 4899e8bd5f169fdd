package edit

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A hash is what a file says that another file's was: under which key, of which
// file ("" where the key does not say), and the value.
type hash struct{ key, of, value string }

var (
	// hashKey is a key that speaks of a hash, by whatever name.
	hashKey = patterns.Lazy(`(?i)sha-?_?\d|(?:^|[-_.])sha(?:$|[-_.])|hash|digest|checksum|fingerprint|md5|crc|blake|etag`)

	// baseKey is a key that names no file: it is of the one that is changed.
	baseKey = patterns.Lazy(`(?i)^(?:base|current|original|sha|md|crc|blake|sum|check|256|\d+|hash|hashes|digest|digests|checksum|fingerprint|etag|value|hex|[-_.])+$`)

	// algorithmKey tells how, and names nothing.
	algorithmKey = patterns.Lazy(`(?i)(?:^|[-_.])(?:algorithm|algo|by|type|method|kind)$`)

	otherKey = patterns.Lazy(`(?i)commit|revision`)

	// digestLike is a value that can hardly be anything but a digest.
	digestLike = patterns.Lazy(`^(?i:[a-z0-9]+(?:-?\d+)?[:=-]\s?)?[0-9A-Fa-f]{64}$|^(?i:sha-?256)[:=-]`)

	textKey = patterns.Lazy(`(?i)(?:^|[-_.])text(?:$|[-_.\[])`)
)

// hashesIn finds every hash in a file, however deep: by a key that speaks of
// one, or that stands in a mapping whose key does, or by a value that looks like
// one. A hash of something else, such as of a commit, is none.
func hashesIn(root *yaml.Node) []hash {
	var out []hash
	collectHashes(root, "", "", &out)
	return out
}

func collectHashes(n *yaml.Node, key, file string, out *[]hash) {
	switch n.Kind {
	case yaml.MappingNode:
		values := keyed(n)
		for _, name := range []string{"path", "file", "name", "of"} {
			if v := values[name]; v != nil && v.Kind == yaml.ScalarNode {
				file = v.Value
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			collectHashes(n.Content[i+1], join(key, n.Content[i].Value), file, out)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			collectHashes(e, fmt.Sprintf("%s[%d]", key, i), file, out)
		}
	case yaml.ScalarNode:
		if null(n) || n.Value == unknown || !hashKey().MatchString(key) && !digestLike().MatchString(strings.TrimSpace(n.Value)) || algorithmKey().MatchString(key) {
			return
		}
		of := hashed(key, file)
		if of != "" || baseKey().MatchString(key) {
			*out = append(*out, hash{key, of, n.Value})
		}
	}
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// hashed is the file that a key names, the innermost name first, or that the
// path beside it does; "" for none. Of base.source_sha256 and text_hash it is the
// source, of files[0].sha256 beside a path the file there, of base.commit_sha none.
func hashed(key, file string) string {
	if otherKey().MatchString(key) {
		return ""
	}
	parts := strings.Split(key, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		for _, of := range []string{"candidate", "status", "direction", "source"} {
			if strings.Contains(strings.ToLower(parts[i]), of) {
				return of
			}
		}
		if textKey().MatchString(parts[i]) {
			return "source"
		}
	}
	if file != "" && (hashKey().MatchString(key) || strings.Contains(key, "[")) {
		return "file " + file
	}
	return ""
}

// staleness holds every hash that the metadata, the direction or the status file
// gives against what is here. One that does not say what it is of is of the file
// that the active part is in. A hash in the status file that is stale makes that
// file doubtful, not the candidate.
func (in *input) staleness() (faults, doubts []fault, notes []string) {
	for _, file := range []struct {
		name   string
		hashes []hash
		into   *[]fault
	}{{"metadata", in.metadata.hashes, &faults}, {"direction", in.direction.hashes, &faults}, {"status file", in.status.hashes, &doubts}} {
		for _, h := range file.hashes {
			of := in.hashedFile(h)
			sum, known := in.sums[of]
			got, readable := digest(h.value)
			switch {
			case file.name == "status file" && of != "source":
			case !readable:
				*file.into = append(*file.into, fault{"base", fmt.Sprintf("%s of the %s is no SHA-256: %q", h.key, file.name, brief(h.value)), file.name})
			case !known:
				notes = append(notes, fmt.Sprintf("%s of the %s cannot be held against anything: %s", h.key, file.name, unheld(of)))
			case got != sum:
				*file.into = append(*file.into, fault{"base", fmt.Sprintf("the %s was made for another %s file than the current one (%s)", in.madeFor(file.name), of, h.key), of})
			}
		}
	}
	return faults, doubts, notes
}

func (in *input) madeFor(file string) string {
	if file == "metadata" {
		return "candidate"
	}
	return file
}

func unheld(of string) string {
	if name, ok := strings.CutPrefix(of, "file "); ok {
		return fmt.Sprintf("no file here is called %q", brief(name))
	}
	return "the " + of + " was given as values"
}

// hashedFile is the role of the file that a hash is of.
func (in *input) hashedFile(h hash) string {
	name, byPath := strings.CutPrefix(h.of, "file ")
	switch {
	case byPath:
		for _, one := range []struct {
			role string
			file File
		}{{"source", in.Source}, {"status", in.Status}, {"candidate", in.Candidate}, {"direction", in.Direction}} {
			if one.file.Path != "" && sameFile(slashed(one.file.Path), path.Clean(slashed(name))) {
				return one.role
			}
		}
		return h.of
	case h.of != "":
		return h.of
	case in.ActivePart == PartText:
		return "source"
	default:
		return "status"
	}
}

var (
	hexSum    = patterns.Lazy(`^(?i:(?:sha2?-?256|sha-256)\s?[:= -]\s?|0x)?([0-9A-Fa-f]{64})(?:\s+\*?\S.*)?$`)
	base64Sum = patterns.Lazy(`^(?i:sha2?-?256\s?[:= -]\s?)([A-Za-z0-9+/_-]{43})=?$`)
)

// digest reads a SHA-256 in any of its spellings: with or without its name,
// in small or capital letters, in base64, as sha256sum prints it. A part of one
// is none, nor is another algorithm's.
func digest(value string) (sum string, ok bool) {
	value = strings.TrimSpace(value)
	if m := hexSum().FindStringSubmatch(value); m != nil {
		return strings.ToLower(m[1]), true
	}
	if m := base64Sum().FindStringSubmatch(value); m != nil {
		plain := strings.NewReplacer("-", "+", "_", "/").Replace(m[1])
		if b, err := base64.RawStdEncoding.DecodeString(plain); err == nil {
			return hex.EncodeToString(b), true
		}
	}
	return "", false
}
