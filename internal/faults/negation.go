package faults

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// auxiliaries are verbs that "not" follows.
var auxiliaries = strings.Fields("is are was were has have had can could will would should may must does do did")

// NegationAdded negates a sentence. The fault is always bad if the sources
// contain the sentence word for word.
var NegationAdded = Operator{"negation_added", "a sentence says the contrary, by a not that was put in", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, s := range t.sentences() {
		for i, w := range s.words {
			word := w.In(t.Content)
			if i+1 < len(s.words) && slices.Contains(auxiliaries, word) && !negates(s.words[i+1].In(t.Content)) {
				add(site{w.End, w.End, " not", "not was put behind " + quote(word), alwaysIf(t.wasGiven(s.In(t.Content)))})
				break
			}
		}
	}
}))}

// NegationTaken removes the negation of a sentence. The fault is always bad if
// the sources contain the sentence word for word.
var NegationTaken = Operator{"negation_taken", "a sentence says the contrary, by a not that was taken out", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, s := range t.sentences() {
		for _, w := range s.words[1:] {
			if word := w.In(t.Content); negates(word) && !strings.ContainsAny(word, "'’") {
				from, to := w.Start, w.End
				if rest := t.Content[to:]; t.Content[from-1] == ' ' {
					from--
				} else if strings.HasPrefix(rest, " ") {
					to++
				}
				add(site{from, to, "", quote(word) + " was taken out", alwaysIf(t.wasGiven(s.In(t.Content)))})
				break
			}
		}
	}
}))}

func negates(word string) bool {
	return slices.Contains([]string{"not", "never", "no", "nicht", "kein", "keine", "pas", "non"}, strings.ToLower(word)) || strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t")
}
