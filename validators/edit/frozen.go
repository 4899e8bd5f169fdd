package edit

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/strictyaml"
	"github.com/seed61713e19/capstan/internal/textdiff"
)

// maxDifferences is the most places that are listed of one part.
const maxDifferences = 10

// A frozen is the finding about the parts that a candidate must not change.
type frozen struct {
	graded
	changed []string // places
	noop    bool     // the active part has not changed
}

// frozen compares the candidate with the current state: for a text the front matter,
// for a status part every other field of the status file.
func (in *input) frozen() frozen {
	f := frozen{graded: graded{Result: gradePass}}
	switch {
	case len(in.unreadable) > 0 || in.uncompared != nil:
		return frozen{graded: graded{Result: notJudged}}
	case in.ActivePart == partText:
		f.compare("front matter", in.frontMatter[0], in.frontMatter[1])
		f.noop = !slices.ContainsFunc(in.changes, func(c change) bool { return c.kind != kindUnseen })
	default:
		old, now := strictyaml.Keyed(in.status.node), strictyaml.Keyed(in.changed.node)
		all := maps.Clone(old)
		maps.Copy(all, now)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if key != string(in.ActivePart) {
				f.compare(brief(key), old[key], now[key])
				continue
			}
			seen := func(a, b string) bool { return textdiff.Normal(a) == textdiff.Normal(b) }
			f.noop = len(strictyaml.Differences("", old[key], now[key], seen)) == 0
		}
	}
	for i, at := range f.changed[:min(len(f.changed), maxDifferences)] {
		f.Result = gradeFail
		f.Notes = append(f.Notes, at+" has changed and is frozen")
		if more := len(f.changed) - maxDifferences; i+1 == maxDifferences && more > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("and %d more places", more))
		}
	}
	return f
}

func (f *frozen) compare(at string, old, now *yaml.Node) {
	switch {
	case old == nil && now != nil:
		f.changed = append(f.changed, at+" (added)")
	case now == nil && old != nil:
		f.changed = append(f.changed, at+" (removed)")
	case old != nil:
		places := strictyaml.Differences(at, old, now, nil)
		f.changed = append(f.changed, places...)
		if len(places) == 0 && !strictyaml.Written(old, now) {
			f.Notes = append(f.Notes, fmt.Sprintf("%s has the same values in another order, style or with other comments", at))
		}
	}
}

// A fault is one thing that is wrong, with the check that found it.
type fault struct {
	check, message, location string
}

// disagreements lists the ids, parts and file names that differ between the
// argument, the direction and the metadata.
func (in *input) disagreements() []fault {
	var out []fault
	d, m, given := in.direction, in.metadata, slashed(in.Candidate.Path)
	add := func(bad bool, location, format string, args ...any) {
		if bad {
			out = append(out, fault{"identity", fmt.Sprintf(format, args...), location})
		}
	}
	add(d.part != in.ActivePart, "direction", "the direction is for %s, not for %s", d.part, in.ActivePart)
	add(m.Candidate != "" && m.Candidate != d.Candidate, "metadata", "the metadata is of candidate %q, not of %q", brief(m.Candidate),
		d.Candidate)
	add(m.Direction != "" && m.Direction != d.ID, "metadata", "the metadata is for direction %q, not for %q", brief(m.Direction), brief(d.ID))
	add(m.part != "" && m.part != in.ActivePart, "metadata", "the metadata is for %s, not for %s", m.part, in.ActivePart)
	add(m.File != "" && given != "" && !sameFile(given, slashed(m.File)), "metadata", "the metadata is of the file %q, not of %q",
		brief(m.File), brief(given))
	rest, found := strings.CutPrefix(path.Base(given), d.Candidate)
	add(path.Base(path.Dir(given)) == folderName && !(found && nameEnd().MatchString(rest)), "candidate",
		"the file %q is not named for candidate %q", brief(given), d.Candidate)
	return out
}

// nameEnd is the end of a name in the folder of candidates: the part and an extension.
var nameEnd = patterns.Lazy(`^(?:[._-](?:status|text|candidate|claim_ledger|` +
	`presentation_spec|rubric|gap_policy))?(?:\.[A-Za-z][A-Za-z0-9]*)?$`)

func slashed(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(name))
}

// sameFile reports whether two paths may name one file: one may begin further up.
func sameFile(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}
