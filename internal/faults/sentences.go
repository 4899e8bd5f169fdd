package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
)

// SentenceDoubled repeats a sentence.
var SentenceDoubled = Operator{"sentence_doubled", "a sentence stands twice in a row", prose(func(t *Text, rng *rand.Rand) []Fault {
	var sites []site
	seen := map[string]bool{}
	for _, s := range t.sentences() {
		text := s.In(t.Content)
		if seen[text] {
			return nil // the text has repetitions of its own
		}
		seen[text] = true
		sites = append(sites, site{s.End, s.End, " " + text, quote(text) + " stands twice", Always})
	}
	return t.plant(rng, sites)
})}

// SentenceDropped removes a sentence. Only a reader who knows the purpose of
// the text can miss it.
var SentenceDropped = Operator{"sentence_dropped", "a sentence is missing", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	all := t.sentences()
	for _, s := range all {
		if to := s.End + len(t.Content[s.End:]) - len(strings.TrimLeft(t.Content[s.End:], " ")); len(all) > 1 {
			add(site{s.Start, to, "", quote(s.In(t.Content)) + " is missing", Usually})
		}
	}
}))}

// SentenceCut ends a sentence in its middle and continues with the next one.
var SentenceCut = Operator{"sentence_cut", "a sentence breaks off in its middle, and the text goes on", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	all := t.sentences()
	for i, s := range all {
		if n := len(s.words); n >= 6 && i+1 < len(all) {
			at := s.words[n/3+rng.IntN(n/3)]
			if !breaks(t.Content[at.End:s.End]) {
				add(site{at.End, s.End, "", fmt.Sprintf("it breaks off behind %s", quote(at.In(t.Content))), alwaysIf(!s.item)})
			}
		}
	}
}))}

// Truncated cuts the text in the middle of a sentence or of the JSON, like a
// model without tokens. The fault is only usually bad if the text has no
// sentences, or if the rest may be a sentence.
var Truncated = Operator{"truncated", "the text is cut off before its end", placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	if t.Value != nil {
		for range t.Most {
			at := t.at.Start + 1 + rng.IntN(t.at.End-t.at.Start-1)
			add(t.cut(boundary(t.Content, at), Always))
		}
		return
	}
	all := t.sentences()
	for _, s := range all {
		n := len(s.words)
		at := s.words[1+rng.IntN(n-2)]
		within := at.End
		if length := at.End - at.Start; length > 3 && rng.IntN(2) == 0 {
			within = boundary(t.Content, at.Start+1+rng.IntN(length-1))
		}
		if 2*within >= len(t.Content) || len(all) == 1 { // less than half is hardly a text
			add(t.cut(within, alwaysIf(!s.item || within < at.End)))
		}
	}
	if len(all) == 0 {
		if words := t.words(reading.Span{Start: 0, End: len(t.Content)}); len(words) > 3 {
			add(t.cut(words[len(words)*2/3].End, Usually))
		}
	}
})}

func (t *Text) cut(at int, s Surety) site {
	return site{at, len(t.Content), "", fmt.Sprintf("%d bytes are missing", len(t.Content)-at), s}
}

// boundary returns the first byte of the character at an offset.
func boundary(text string, at int) int {
	for at > 0 && text[at]&0xC0 == 0x80 {
		at--
	}
	return at
}

// breaks reports whether the text after a word is optional, because a clause
// ends there.
func breaks(rest string) bool {
	return rest == "" || strings.ContainsAny(rest[:1], ".!?,;:)")
}
