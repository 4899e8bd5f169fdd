package capy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/reports"
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
		fails, asks := r.stage.forbidden(one)
		if !fails && !asks || r.earlier(one) || one.form == inHeading {
			continue
		}
		v := r.policy.Values[one.value]
		if n := one.figure; n != nil && v.Unit == "money" && (n.Signed || n.Percent) {
			continue // a difference
		}
		numbers := r.numbers(one)
		n := slices.IndexFunc(numbers, func(n *reading.Value) bool { return !isKnown(n, known) })
		switch {
		case n < 0 || !fails && isKnown(one.figure, known):
		case fails:
			f.fail(one.place, "%s states %s as %s, which only the kernel may compute: %q",
				r.stage.Name, v.Title, v.shown(numbers[n].Value), reports.Fit(one.shown(), 80))
		default:
			f.warn(one.place, "Question: potential fabrication of %s: of which state is %q?", v.Title, reports.Fit(one.shown(), 80))
		}
	}
	r.sentences(f, known)
}

// forbids reports whether the stage must not state a value, of any state.
func (s *stage) forbids(value string) bool {
	return slices.ContainsFunc(s.Forbids, func(b forbidden) bool { return b.Value == value })
}

// forbidden reports whether the stage must not state the value of a fact. Asks is true if
// that depends on a state and the fact names none.
func (s *stage) forbidden(one *fact) (fails, asks bool) {
	for _, b := range s.Forbids {
		if b.Value == one.value {
			fails = fails || b.State == 0 || slices.Contains(one.states, strconv.Itoa(b.State))
			asks = asks || len(one.states) == 0 && one.whole && slices.Contains(s.Asks, one.value)
		}
	}
	return fails, asks
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

// isKnown reports whether a number equals a number of an earlier stage to its last
// digit.
func isKnown(n *reading.Value, known []float64) bool {
	return n != nil && slices.ContainsFunc(known, func(k float64) bool {
		half := 0.5 * math.Pow10(-n.Decimals)
		return math.Abs(n.Value-k) <= half*1.001 || n.Percent && math.Abs(n.Value-k*100) <= half
	})
}

// shown returns the source of a fact as a finding quotes it.
func (one *fact) shown() string {
	if one.form == inKey {
		return one.of().label + ": " + one.content
	}
	return one.content
}

// sentences raises a question, or by the policy a failure, for an amount in a sentence
// with one of the stage's labels.
func (r *run) sentences(f *findings, known []float64) {
	for i := range r.text.parts {
		p := &r.text.parts[i]
		if !p.named || p.kind != aText && p.kind != anItem {
			continue
		}
		for _, s := range r.text.Sentences(p.block.Span) {
			sentence := fold(s.In(r.text.Source))
			value, after := r.asked(sentence)
			amounts := func(n reading.Number) bool { return amount(after, n) && !isKnown(&reading.Value{Number: n}, known) }
			if value == "" || !slices.ContainsFunc(reading.Numbers(after), amounts) {
				continue
			}
			at, title := place{r.text, s.Start}, r.policy.Values[value].Title
			if slices.ContainsFunc(f.issues.found, func(one Finding) bool { return one.Line == at.line() }) {
				continue
			}
			if r.policy.Fabricated == "fail" {
				f.fail(at, "potential fabrication of %s: %q", title, reports.Fit(sentence, 160))
			} else {
				f.warn(at, "Question: potential fabrication of %s: %q", title, reports.Fit(sentence, 160))
			}
		}
	}
}

// nearWords is how many words before a label name the state of its value.
const nearWords = 12

// asked returns the first name of a value in a sentence that raises a question, and the
// rest of the sentence. A name near a value of an earlier state raises no question.
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

// amount reports whether a number is an amount. It has a currency, a percent sign or a
// fraction, and it is not a difference or a limit.
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
