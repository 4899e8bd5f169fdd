package edit

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A fault is why something is not as it must be. Check says what found it.
type fault struct {
	check, message, location string
}

// disagreements are the ids, parts and file names that are not the same in the
// argument, the direction and the metadata.
func (in *input) disagreements() []fault {
	var out []fault
	add := func(format string, args ...any) {
		out = append(out, fault{"identity", fmt.Sprintf(format, args...), "metadata"})
	}
	d, m := in.direction, in.metadata
	if d.part != in.ActivePart {
		out = append(out, fault{"identity", fmt.Sprintf("the direction is for %s, not for %s", d.part, in.ActivePart), "direction"})
	}
	if m.candidate != "" && m.candidate != d.candidate {
		add("the metadata is of candidate %q, not of %q", brief(m.candidate), d.candidate)
	}
	if m.direction != "" && m.direction != d.id {
		add("the metadata is for direction %q, not for %q", brief(m.direction), brief(d.id))
	}
	if m.part != "" && m.part != in.ActivePart {
		add("the metadata is for %s, not for %s", m.part, in.ActivePart)
	}
	given := slashed(in.Candidate.Path)
	if m.file != "" && given != "" && !sameFile(given, slashed(m.file)) {
		add("the metadata is of the file %q, not of %q", brief(m.file), brief(given))
	}
	if !namesCandidate(given, d.candidate) {
		out = append(out, fault{"identity", fmt.Sprintf("the file %q is not named for candidate %q", brief(given), d.candidate), "candidate"})
	}
	return out
}

func slashed(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(name))
}

// sameFile tells whether two paths may name one file: one may be given from
// further up.
func sameFile(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// namesCandidate tells whether a file may hold the candidate: those in the
// folder candidates are named for theirs, any other file may be called as it
// likes.
func namesCandidate(file, id string) bool {
	if path.Base(path.Dir(file)) != folderName {
		return true
	}
	rest, ok := strings.CutPrefix(path.Base(file), id)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "._-"))
}

var sumPattern = regexp.MustCompile(`^(?i:sha-?256[:= -]?)?([0-9A-Fa-f]{64})$`)

// staleness holds the hashes that the metadata gives against what is here. One
// that does not say what it is of is of the file that the active part is in.
func (in *input) staleness() (faults []fault, notes []string) {
	for _, h := range in.metadata.hashes {
		of := h.of
		switch {
		case of == "" && in.ActivePart == PartText:
			of = "source"
		case of == "":
			of = "status"
		}
		m := sumPattern.FindStringSubmatch(strings.TrimSpace(h.value))
		sum, known := in.sums[of]
		switch {
		case m == nil:
			faults = append(faults, fault{"base", fmt.Sprintf("%s of the metadata is no SHA-256: %q", h.key, brief(h.value)), "metadata"})
		case !known:
			notes = append(notes, fmt.Sprintf("%s cannot be held against anything: the %s was given as values", h.key, of))
		case !strings.EqualFold(m[1], sum):
			faults = append(faults, fault{"base", fmt.Sprintf("the candidate was made for another %s file than the current one (%s of the metadata)", of, h.key), of})
		}
	}
	return faults, notes
}
