package edit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"
)

// A frozen is what was found of the parts that a candidate may not change.
type frozen struct {
	result  Result
	changed []string // where
	notes   []string
	noop    bool // the active part is what it was
}

// frozen compares the candidate with the current state.
func (in *input) frozen() frozen {
	switch {
	case len(in.unreadable) > 0:
		return frozen{result: NotJudged}
	case in.ActivePart == PartText:
		return in.frozenText()
	default:
		return in.frozenStatus()
	}
}

// frozenText compares front matter, which describes a text and is no part of
// it.
func (in *input) frozenText() frozen {
	f := frozen{result: Pass}
	old, now := in.pages[0], in.pages[1]
	switch {
	case old.matter == nil && now.matter != nil:
		f.changed = append(f.changed, "front matter (added)")
	case old.matter != nil && now.matter == nil:
		f.changed = append(f.changed, "front matter (removed)")
	case old.matter != nil:
		f.compare("front matter", old.matter, now.matter)
	}
	f.noop = plainLines(old.body) == plainLines(now.body) || in.sameToReaders()
	return f.done()
}

// plainLines leaves out what no reader sees: white space at the ends of lines
// and of the text, and how accents are composed. Two blanks at the end of a line, which break it in Markdown,
// stay.
func plainLines(s string) string {
	lines := strings.Split(norm.NFC.String(s), "\n")
	for i, line := range lines {
		bare := strings.TrimRight(line, " \t")
		if bare != "" && strings.HasSuffix(line, "  ") {
			bare += "  "
		}
		lines[i] = bare
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n \t")
}

// frozenStatus compares every field of the status file but the active one.
func (in *input) frozenStatus() frozen {
	f := frozen{result: Pass}
	old, now := in.status.top.value, in.changed.top.value
	for _, key := range slices.Sorted(maps.Keys(merged(old, now))) {
		if key == string(in.ActivePart) {
			f.noop = alike(old[key], now[key])
			continue
		}
		f.compare(brief(key), old[key], now[key])
	}
	return f.done()
}

func merged(a, b map[string]*yaml.Node) map[string]*yaml.Node {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func (f *frozen) compare(at string, old, now *yaml.Node) {
	if diff := differences(at, old, now); len(diff) > 0 {
		f.changed = append(f.changed, diff...)
	} else if !written(old, now) {
		f.notes = append(f.notes, fmt.Sprintf("%s says the same and is written differently (order of keys, comments or style)", at))
	}
}

func (f frozen) done() frozen {
	if len(f.changed) > 0 {
		f.result = Fail
		for i, at := range f.changed {
			if i == maxDifferences {
				f.notes = append(f.notes, fmt.Sprintf("and %d more places", len(f.changed)-i))
				break
			}
			f.notes = append(f.notes, at+" has changed and is frozen")
		}
	}
	return f
}
