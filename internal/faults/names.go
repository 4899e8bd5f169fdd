package faults

import (
	"math/rand/v2"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
)

// NamesSwapped swaps two names.
var NamesSwapped = Operator{"names_swapped", "two names have changed places", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	var names []reading.Span
	for _, p := range t.paragraphs {
		for _, s := range p.Sentences {
			for i, w := range t.words(s) {
				if first, _ := utf8.DecodeRuneInString(w.In(t.Content)); i > 0 && unicode.IsUpper(first) && w.End-w.Start > 2 {
					names = append(names, w)
				}
			}
		}
	}
	t.swapped(add, names)
}))}

// datePattern matches a date in ISO 8601 or with the month as a word.
var datePattern = patterns.Lazy(`\b(?:\d{4}-\d\d-\d\d|\d{1,2}\.? (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?|(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:, \d{4})?)\b`)

// DatesSwapped swaps two dates.
var DatesSwapped = Operator{"dates_swapped", "two dates have changed places", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.swapped(add, t.matches(datePattern()))
}))}

// swapped swaps neighbours in a list. The order of names in an enumeration may
// not matter.
func (t *Text) swapped(add func(...site), list []reading.Span) {
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		one, other := a.In(t.Content), b.In(t.Content)
		if one != other {
			add(site{a.Start, b.End, other + t.Content[a.End:b.Start] + one, quote(one) + " and " + quote(other) + " have changed places", Usually})
		}
	}
}
