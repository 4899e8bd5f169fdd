package edit

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

// maxDifferences is the most places that are listed of one part.
const maxDifferences = 10

// A frozen is the finding about the parts that a candidate must not change.
type frozen struct {
	result  Result
	changed []string // places
	notes   []string
	noop    bool // the active part has not changed
}

// frozen compares the candidate with the current state: for a text the front matter,
// for a status part every other field of the status file.
func (in *input) frozen() frozen {
	f := frozen{result: Pass}
	switch {
	case len(in.unreadable) > 0:
		return frozen{result: NotJudged}
	case in.ActivePart == PartText:
		f.compare("front matter", in.pages[0].matter, in.pages[1].matter)
		f.noop = in.uncompared == nil && !slices.ContainsFunc(in.changes, func(c change) bool { return c.kind != kindUnseen })
	default:
		old, now := keyed(in.status.node), keyed(in.changed.node)
		all := maps.Clone(old)
		maps.Copy(all, now)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if key != string(in.ActivePart) {
				f.compare(brief(key), old[key], now[key])
				continue
			}
			d := difference{seen: true}
			d.compare("", value(old[key]), value(now[key]))
			f.noop = len(d.places) == 0
		}
	}
	for i, at := range f.changed[:min(len(f.changed), maxDifferences)] {
		f.result = Fail
		f.notes = append(f.notes, at+" has changed and is frozen")
		if more := len(f.changed) - maxDifferences; i+1 == maxDifferences && more > 0 {
			f.notes = append(f.notes, fmt.Sprintf("and %d more places", more))
		}
	}
	return f
}

func (f *frozen) compare(at string, old, now *yaml.Node) {
	d := difference{}
	switch {
	case old == nil && now != nil:
		f.changed = append(f.changed, at+" (added)")
	case now == nil && old != nil:
		f.changed = append(f.changed, at+" (removed)")
	case old != nil:
		d.compare(at, value(old), value(now))
		f.changed = append(f.changed, d.places...)
		if len(d.places) == 0 && !written(old, now) {
			f.notes = append(f.notes, fmt.Sprintf("%s has the same values in another order, style or with other comments", at))
		}
	}
}

// value decodes a node whose document was decoded before.
func value(n *yaml.Node) (v any) {
	if n != nil {
		_ = n.Decode(&v)
	}
	return v
}

// written reports whether two equal values are written in the same way.
func written(a, b *yaml.Node) bool {
	x, err := yaml.Marshal(a)
	y, other := yaml.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y) && a.Value == b.Value
}

// A difference lists the paths at which two values differ.
type difference struct {
	seen   bool // compare texts as a reader sees them
	places []string
}

// missing stands for a value that one side does not have.
type missing struct{}

func (d *difference) compare(at string, a, b any) {
	if len(d.places) >= maxDifferences {
		return
	}
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok {
			all := maps.Clone(x)
			maps.Copy(all, y)
			for _, key := range slices.Sorted(maps.Keys(all)) {
				d.compare(at+"."+brief(key), field(x, key), field(y, key))
			}
			return
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok {
			for i := range max(len(x), len(y)) {
				ea, eb := element(x, i), element(y, i)
				d.compare(fmt.Sprintf("%s[%s]", at, named(i, ea, eb)), ea, eb)
			}
			return
		}
	}
	if !d.same(a, b) {
		d.places = append(d.places, at)
	}
}

// same compares scalars as values: 010 and 8 are the same number, 1 and "1" are not
// the same value.
func (d *difference) same(a, b any) bool {
	if x, ok := schema.Digits(a); ok {
		y, number := schema.Digits(b)
		return number && x == y
	}
	x, text := a.(string)
	y, other := b.(string)
	return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b) || d.seen && text && other && textdiff.Normal(x) == textdiff.Normal(y)
}

func field(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return missing{}
}

// named returns the id that an element has on both sides, or its number.
func named(i int, a, b any) string {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if id, ok := x["id"].(string); ok && id == y["id"] && id != "" {
		return brief(id)
	}
	return fmt.Sprint(i)
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
	add(m.Candidate != "" && m.Candidate != d.Candidate, "metadata", "the metadata is of candidate %q, not of %q", brief(m.Candidate), d.Candidate)
	add(m.Direction != "" && m.Direction != d.ID, "metadata", "the metadata is for direction %q, not for %q", brief(m.Direction), brief(d.ID))
	add(m.part != "" && m.part != in.ActivePart, "metadata", "the metadata is for %s, not for %s", m.part, in.ActivePart)
	add(m.File != "" && given != "" && !sameFile(given, slashed(m.File)), "metadata", "the metadata is of the file %q, not of %q", brief(m.File), brief(given))
	rest, found := strings.CutPrefix(path.Base(given), d.Candidate)
	add(path.Base(path.Dir(given)) == folderName && !(found && nameEnd().MatchString(rest)), "candidate",
		"the file %q is not named for candidate %q", brief(given), d.Candidate)
	return out
}

// nameEnd is the end of a name in the folder of candidates: the part and an extension.
var nameEnd = patterns.Lazy(`^(?:[._-](?:status|text|candidate|claim_ledger|presentation_spec|rubric|gap_policy))?(?:\.[A-Za-z][A-Za-z0-9]*)?$`)

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
