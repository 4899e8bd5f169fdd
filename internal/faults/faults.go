// Package faults makes bad texts from good ones. Measures of gates plant these
// faults.
//
// An [Operator] plants faults of one kind, and [General] lists the operators
// for any text. A gate with knowledge of its texts publishes its own operators.
// An operator takes a [Text], which is a good text with its sources, and
// returns copies with one fault each. [Always] means that a careful editor with
// the same sources and schema rejects the copy. [Usually] means that the change
// may be right in some texts. An operator does not plant a fault that the good
// text already has.
//
// In JSON, operators for prose plant their faults inside the values, so the
// JSON stays valid. A value that the schema rejects is always bad. The same
// text and the same random numbers give the same faults.
package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
)

// A Surety is the certainty that a planted fault makes a text bad.
type Surety string

// The sureties.
const (
	Always  Surety = "always"
	Usually Surety = "usually"
)

// A Fault is a text with one planted fault.
type Fault struct {
	Text  string
	Place string // in the good text, for example "line 3" or "$.items[2].price"
	Note  string // the change, for example `"12" became "21"`
	Sure  Surety
}

// An Operator plants faults of one kind.
type Operator struct {
	Name        string
	Description string // one sentence that completes "a text in which"

	// Apply returns copies of the text with one fault each, at most t.Most of
	// them at random places. It returns none if the text has no place for the fault, or has
	// the fault already.
	Apply func(t *Text, rng *rand.Rand) []Fault
}

// General returns the operators for any text.
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

// A site is a possible place of a fault. The string with replaces the bytes
// between two offsets.
type site struct {
	from, to int
	with     string
	note     string
	sure     Surety
}

// placed returns an Apply function for an operator that adds the sites of its
// fault.
func placed(find func(t *Text, rng *rand.Rand, add func(...site))) func(*Text, *rand.Rand) []Fault {
	return func(t *Text, rng *rand.Rand) []Fault {
		var sites []site
		find(t, rng, func(more ...site) { sites = append(sites, more...) })
		return t.plant(rng, sites)
	}
}

// plant returns at most t.Most faults for the sites. It omits sites that change
// nothing and duplicates.
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

// pick returns at most n random elements of a list.
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

// line returns the line of a byte as the place of a fault.
func (t *Text) line(at int) string {
	return fmt.Sprintf("line %d", strings.Count(t.Content[:at], "\n")+1)
}

// became returns the note for a change.
func became(was, is string) string { return fmt.Sprintf("%s became %s", quote(was), quote(is)) }

// quote shortens a text to one quoted line.
func quote(s string) string { return strconv.Quote(clips.Chars(s, 60)) }

// alwaysIf returns Always if the condition holds, and Usually otherwise.
func alwaysIf(holds bool) Surety {
	if holds {
		return Always
	}
	return Usually
}
