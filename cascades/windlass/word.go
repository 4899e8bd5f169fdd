// Package windlass knows the words that other people's cascades are written in:
// those of Windlass, whose language Capstan's is, and of LARS, its later form,
// which has renamed most of them. They are no second names here: a file that says
// cells does not load. What the package is for is to say what was meant.
//
// Three read it. The parser asks [Key], [Tool] and [Validator] what a word was
// that it does not know, so that a diagnostic can tell what takes its place; the
// language server shows the same; and [Convert] writes a file in our words.
// There is one table for all of them: who adds a word adds it to the three.
//
// The package holds data and rewrites trees of YAML. It opens no file and knows
// nothing of how a cascade is parsed or run.
package windlass

import (
	"maps"
	"slices"
	"strings"
)

// A Fate is what becomes of a word here.
type Fate int

// The fates, the mildest first.
const (
	Ignored  Fate = iota // it changes nothing about what comes out: a file may have it
	Without              // the file runs without it, and is told what takes its place
	Renamed              // it is called otherwise here, and means the same
	Replaced             // it means nothing here: something else takes its place
)

// A Word is a key, a tool or a validator of Windlass or LARS that is none here, or
// is another here.
type Word struct {
	By      string // the program that calls it so, of what is renamed; a word of Windlass that LARS has kept is Windlass's
	Fate    Fate
	Here    string // what it is called here, of what is renamed
	Instead string // what takes its place, as half a sentence; empty for what is ignored
	Unlike  string // how what it is called here differs, with a comma before it; of tools alone
}

// Told is the half sentence of a diagnostic: what the word was, and what to do.
func (w Word) Told() string {
	switch w.Fate {
	case Renamed:
		return "so " + w.By + " calls " + w.Here + "; capstan convert FILE writes it so"
	case Ignored:
		return "it changes nothing here"
	default:
		return w.Instead
	}
}

// Key tells what a key is that stands in a mapping of a kind, in the words of the
// parser: the cascade, a phase, rules. Keys that begin with _ are their editors'.
func Key(kind, key string) (Word, bool) {
	if w, ok := keys()[kind][key]; ok {
		return w, true
	}
	if _, closed := keys()[kind]; closed && strings.HasPrefix(key, "_") {
		return Word{Fate: Ignored}, true
	}
	return Word{}, false
}

// Keys lists the keys that [Key] knows in a mapping of a kind, in order.
func Keys(kind string) []string { return slices.Sorted(maps.Keys(keys()[kind])) }

// Synonyms are the keys of a mapping of a kind that are called otherwise here, the
// newest word for a thing first.
func Synonyms(kind string) []string { return renamed[kind] }

var renamed = map[string][]string{
	"the cascade":        {"cells", "takes", "candidates"},
	"a phase":            {"skills", "traits", "takes", "candidates", "condition"},
	"a phase of context": {"cell"},
	"a validator":        {"instructions"},
}

func without(instead string) Word       { return Word{Fate: Without, Instead: instead} }
func calls(by, here string) Word        { return Word{By: by, Fate: Renamed, Here: here} }
func instead(takesItsPlace string) Word { return Word{Fate: Replaced, Instead: takesItsPlace} }
