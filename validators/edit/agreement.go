package edit

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
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
// likes. What stands behind the id is no part of another one.
func namesCandidate(file, id string) bool {
	if path.Base(path.Dir(file)) != folderName {
		return true
	}
	rest, ok := strings.CutPrefix(path.Base(file), id)
	return ok && nameEnd().MatchString(rest)
}

// nameEnd is what the file holds, and in what form.
var nameEnd = patterns.Lazy(`^(?:[._-](?:status|text|candidate|claim_ledger|presentation_spec|rubric|gap_policy))?(?:\.[A-Za-z][A-Za-z0-9]*)?$`)
