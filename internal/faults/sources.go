package faults

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
)

// quotationPattern matches a quotation of three words or more.
var quotationPattern = patterns.Lazy(`"[^"\n]{12,600}"|“[^”\n]{12,600}”|„[^“”\n]{12,600}[“”]|«[^»\n]{12,600}»`)

// quotations returns the quotations in the prose that the sources contain.
func (t *Text) quotations() []reading.Span {
	given := strings.Join(strings.Fields(t.Given), " ")
	return slices.DeleteFunc(t.matches(quotationPattern()), func(s reading.Span) bool {
		quoted := strings.Join(strings.Fields(strings.Trim(s.In(t.Content), `"“”„«»`)), " ")
		return len(t.words(s)) < 3 || !strings.Contains(given, quoted)
	})
}

// CitationInvented adds an invented quotation. It is always bad in a text that
// also quotes its sources, because readers cannot distinguish the quotations.
var CitationInvented = Operator{"citation_invented", "it quotes what stands in nothing that its author was given", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	sentences := []string{
		`It says: "Nobody had expected that the result would be so clear."`,
		`As the author puts it, "the evidence leaves no room for another reading."`,
		`The report notes that "three out of four would do it again."`,
	}
	quotes := len(t.quotations()) > 0
	for i, p := range t.paragraphs {
		s := sentences[i%len(sentences)]
		add(site{p.End, p.End, " " + s, "a quotation was made up: " + quote(s), alwaysIf(quotes)})
	}
}))}

// QuotationChanged changes a word in a quotation of the sources.
var QuotationChanged = Operator{"quotation_changed", "a word of a quotation is another", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	for _, q := range t.quotations() {
		for _, w := range t.words(q) {
			if word := w.In(t.Content); len(word) > 3 {
				with := []string{"hardly", "mostly", "another", "formerly"}[rng.IntN(4)]
				add(site{w.Start, w.End, with, became(word, with), Always})
			}
		}
	}
}))}
