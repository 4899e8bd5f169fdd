// Package faults makes bad texts of good ones: the planted faults by which a
// gate is measured.
//
// An [Operator] is a value, one file each kind, one word in the list of
// [General]; a gate that knows more of its texts publishes operators of its own
// beside itself. From a [Text], a good one with what is known around it, an
// operator makes copies with one fault in each, and says of each how surely it
// is bad: [Always] means that a careful editor who knows what the author was
// given and the schema that is asked for would send it back whatever the text is
// about; [Usually], that the change may be right in some text. A fault that the
// good text already has is not planted.
//
// In a text that is JSON the faults of prose are planted within its values, so
// that none is found by the JSON being broken; one that the schema does not take any
// more is bad for sure. The same text and the same random numbers always give the
// same faults.
package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Surety says how surely a planted fault makes a text bad.
type Surety string

// The sureties.
const (
	Always  Surety = "always"
	Usually Surety = "usually"
)

// A Fault is a text with one fault planted.
type Fault struct {
	Text  string
	Place string // in the good text, for a person: "line 3", "$.items[2].price"
	Note  string // what was done: `"12" became "21"`
	Sure  Surety
}

// An Operator plants faults of one kind.
type Operator struct {
	Name        string
	Description string // one sentence that reads well behind "a text in which"

	// Apply gives copies of the text with one fault each, at most t.Most of them,
	// picked by rng where there are more places. None where the text has no place
	// for one, or has the fault already.
	Apply func(t *Text, rng *rand.Rand) []Fault
}

// General lists the operators that know nothing of what a text is about.
func General() []Operator {
	return []Operator{
		FieldDropped, FieldRetyped, ValuesSwapped,
		NumberDigit, NumberSign, NumberMagnitude, PercentForValue,
		NegationAdded, NegationTaken,
		SentenceDoubled, SentenceDropped, SentenceCut, Truncated,
		NamesSwapped, DatesSwapped,
		Placeholder, PlaceholderWord, TemplateTag, Disclaimer, Refusal,
		OtherLanguage, LanguageMixed,
		Secret, PersonalData, Injection,
		CitationInvented, QuotationChanged,
		LinkBroken, LinkChanged, FenceOpen, HeadingSkipped, CellLost,
	}
}

// A site is where a fault can be planted: what stands from one byte of the text
// to another becomes with.
type site struct {
	from, to int
	with     string
	note     string
	sure     Surety
}

// placed is what applies an operator that adds the sites of its fault.
func placed(find func(t *Text, rng *rand.Rand, add func(...site))) func(*Text, *rand.Rand) []Fault {
	return func(t *Text, rng *rand.Rand) []Fault {
		var sites []site
		find(t, rng, func(more ...site) { sites = append(sites, more...) })
		return t.plant(rng, sites)
	}
}

// plant makes the faults of at most t.Most of the sites. Those that change
// nothing, or come to the same text, are left out.
func (t *Text) plant(rng *rand.Rand, sites []site) []Fault {
	sites = slices.DeleteFunc(sites, func(s site) bool { return t.Content[s.from:s.to] == s.with })
	picked := pick(rng, sites, t.Most)
	slices.SortStableFunc(picked, func(a, b site) int { return cmp.Compare(a.from, b.from) })
	var out []Fault
	seen := map[string]bool{}
	for _, s := range picked {
		text := t.Content[:s.from] + s.with + t.Content[s.to:]
		if !seen[text] {
			seen[text] = true
			out = append(out, Fault{text, t.line(s.from), s.note, s.sure})
		}
	}
	return out
}

// pick takes at most n of a list.
func pick[T any](rng *rand.Rand, list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i, at := range rng.Perm(len(list))[:n] {
		out[i] = list[at]
	}
	return out
}

// line is the place of a byte.
func (t *Text) line(at int) string {
	return fmt.Sprintf("line %d", strings.Count(t.Content[:at], "\n")+1)
}

// became is the note of a change.
func became(was, is string) string { return fmt.Sprintf("%s became %s", quote(was), quote(is)) }

// quote shows a piece of a text in a short line.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// sure is Always where it holds.
func sure(holds bool) Surety {
	if holds {
		return Always
	}
	return Usually
}
