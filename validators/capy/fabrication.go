package capy

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
)

// fabricationCheck is check 5: the output states no value that only the kernel may
// compute, except those of earlier stages.
func (r *run) fabricationCheck(f *findings) {
	known := slices.Clone(r.prior)
	for i := range r.facts {
		if one := &r.facts[i]; one.figure != nil && r.earlier(one) {
			known = append(known, one.figure.Value)
		}
	}
	for i := range r.facts {
		one := &r.facts[i]
		if !r.forbidden(one) {
			if r.stateless(one) && !r.quoted(one, known) {
				title := r.policy.Values[one.value].Title
				f.warn(one.place, "Question: potential fabrication of %s: of which state is %q?", title, clip(one.shown(), 80))
			}
			continue
		}
		if r.quoted(one, known) {
			continue
		}
		v := r.policy.Values[one.value]
		for _, n := range r.numbers(one) {
			if isKnown(n, known) {
				continue
			}
			f.fail(one.place, "%s states %s as %s, which only the kernel may compute: %q",
				r.stage.Name, v.Title, v.shown(n.Value), clip(one.shown(), 80))
			break
		}
	}
	r.sentences(f, known)
}

// forbidden reports whether the stage must not state the value of a fact.
func (r *run) forbidden(one *fact) bool {
	return slices.ContainsFunc(r.stage.Forbids, func(b forbidden) bool {
		return b.Value == one.value && (b.State == 0 || slices.Contains(one.states, string(rune('0'+b.State))))
	})
}

// stateless reports whether a fact names no state and the stage must not state the value
// of one.
func (r *run) stateless(one *fact) bool {
	ofState := func(b forbidden) bool { return b.Value == one.value && b.State > 0 }
	return len(one.states) == 0 && one.whole && slices.Contains(r.stage.Asks, one.value) && slices.ContainsFunc(r.stage.Forbids, ofState)
}

// quoted reports whether a fact is of an earlier stage, is a difference, or has no
// number.
func (r *run) quoted(one *fact, known []float64) bool {
	v := r.policy.Values[one.value]
	return r.earlier(one) || one.form == inHeading || len(r.numbers(one)) == 0 ||
		one.figure != nil && (v.Unit == "money" && (one.figure.Signed || one.figure.Percent) || isKnown(one.figure, known))
}

// numbers returns the number of a fact; of an object or array those in it.
func (r *run) numbers(one *fact) []*reading.Value {
	var list []*reading.Value
	switch {
	case one.figure != nil:
		list = append(list, one.figure)
	case one.form == inKey && r.policy.Values[one.value].Unit == "plain":
		for _, p := range one.doc.parts[one.part:one.of().end] {
			if p.json == '0' {
				list = append(list, r.number(p.text))
			}
		}
	}
	return list
}

// isKnown reports whether a number is one of an earlier stage, to its last digit.
func isKnown(n *reading.Value, known []float64) bool {
	return n != nil && slices.ContainsFunc(known, func(k float64) bool {
		half := 0.5 * math.Pow10(-n.Decimals)
		return math.Abs(n.Value-k) <= half*1.001 || n.Percent && math.Abs(n.Value-k*100) <= half
	})
}

// shown returns the source of a fact as a finding quotes it.
func (one *fact) shown() string {
	if one.form == inKey {
		return one.of().label + ": " + one.said
	}
	return one.said
}

// prose are the kinds of blocks that have sentences.
var prose = []reading.Kind{reading.ParagraphBlock, reading.ItemBlock, reading.QuoteBlock, reading.FootnoteBlock}

// sentences raises a question, or by the policy a failure, for an amount in a sentence
// with one of the stage's labels.
func (r *run) sentences(f *findings, known []float64) {
	for i := range r.text.Blocks {
		b := &r.text.Blocks[i]
		if !slices.Contains(prose, b.Kind) || !r.mentions(b.Text) {
			continue
		}
		for _, s := range r.text.Sentences(b.Span) {
			sentence := fold(s.In(r.text.Source))
			value, after := r.asked(sentence)
			amounts := func(n reading.Number) bool { return amount(after, n) && !isKnown(&reading.Value{Number: n}, known) }
			if value == "" || !slices.ContainsFunc(reading.Numbers(after), amounts) {
				continue
			}
			at := place{r.text, s.Start}
			if slices.ContainsFunc(f.list, func(one Finding) bool { return one.Severity == Fail && one.Line == at.line() }) {
				continue
			}
			message := "Question: potential fabrication of %s: %q"
			if title := r.policy.Values[value].Title; r.policy.Fabricated == "fail" {
				f.fail(at, strings.TrimPrefix(message, "Question: "), title, clip(sentence, 160))
			} else {
				f.warn(at, message, title, clip(sentence, 160))
			}
		}
	}
}

// mentions reports whether a text has one of the labels that raise questions.
func (r *run) mentions(text string) bool {
	words := tokens(fold(text))
	for i := range words {
		if p := r.labels.at(words, i); p != nil && p.name && slices.Contains(r.stage.Asks, p.kind) {
			return true
		}
	}
	return false
}

// nearWords is how many words before a label name the state of its value.
const nearWords = 12

// asked returns the first name of a value in a sentence that raises a question there, and
// the sentence from it on. A name beside one of an earlier state raises none.
func (r *run) asked(sentence string) (value, after string) {
	words := tokens(sentence)
	for i := 0; i < len(words); i++ {
		p := r.labels.at(words, i)
		if p == nil {
			continue
		}
		if p.name && slices.Contains(r.stage.Asks, p.kind) && !r.earlier(&fact{states: r.words.find(words[max(0, i-nearWords):i], "state:")}) &&
			!r.earlier(&fact{states: r.words.find(within(words, i, words[i].end+40), "state:")}) {
			return p.kind, sentence[words[i].start:][:min(len(sentence)-words[i].start, maxSaid)]
		}
		i += len(p.words) - 1
	}
	return "", ""
}

// amount reports whether a number is an amount: with a currency, a percent sign or a
// fraction, and neither a difference nor a limit.
func amount(text string, n reading.Number) bool {
	currency := func(c rune) bool { return unicode.Is(unicode.Sc, c) || c == ' ' }
	before := strings.TrimRightFunc(text[:max(0, min(n.Start, len(text)))], currency)
	return (n.Currency != "" || n.Percent || strings.ContainsAny(n.In(text), ".,")) && n.Value > 0 &&
		!strings.ContainsRune("<>≤≥+", lastRune(before))
}

func lastRune(text string) rune {
	c, _ := utf8.DecodeLastRuneInString(text)
	return c
}
