package patterns

import (
	"errors"
	"io"
	"unicode/utf8"
)

// A Meter counts work. The matcher calls Spend with units of about 100 ns
// before it does the work. The error of Spend ends the match without a result.
// It means an exhausted budget or an interrupted run.
type Meter interface{ Spend(units int) error }

// ErrWork is the error of a [Budget] that is spent.
var ErrWork = errors.New("too much work for one pattern: shorten the text or the pattern")

// A Budget is a [Meter] for work that has no other.
type Budget struct {
	left int
	stop func() error
}

// NewBudget returns a Budget for one text: 100,000,000 units, ten seconds on most.
// stop is called before each piece of the work, and its error ends it; nil never
// does.
func NewBudget(stop func() error) *Budget { return &Budget{100_000_000, stop} }

// Spend implements [Meter].
func (b *Budget) Spend(units int) error {
	if b.left -= units; b.left < 0 || units < 0 {
		b.left = 0
		return ErrWork
	}
	if b.stop != nil {
		return b.stop()
	}
	return nil
}

// stepsPerUnit is how many bytes of text times instructions are matched for a unit.
const stepsPerUnit = 40

// piece is the number of steps between two payments, which take less than a
// millisecond on most machines.
const piece = 1 << 18

// within matches a text with re, and pays m before each piece of the text. Go's
// matching time grows with the text and the instructions, and only the reader
// can stop it. A long text therefore has a reader that pays. steps is the price
// of a byte.
func within[T any](m Meter, text string, steps int, whole func(string) T, read func(io.RuneReader) T) (found T, err error) {
	if m == nil {
		return whole(text), nil
	}
	if len(text) <= piece/steps {
		if err := m.Spend(1 + len(text)*steps/stepsPerUnit); err != nil {
			return found, err
		}
		return whole(text), nil
	}
	r := &reader{meter: m, text: text, steps: steps}
	got := read(r)
	if r.err != nil {
		return found, r.err
	}
	return got, nil
}

// A reader reads a text while its meter pays. After the meter's error it ends.
type reader struct {
	meter           Meter
	text            string
	at, paid, steps int
	err             error
}

// ReadRune implements [io.RuneReader].
func (r *reader) ReadRune() (c rune, size int, err error) {
	if r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	if r.at >= r.paid {
		bytes := min(max(piece/r.steps, 1), len(r.text)-r.at)
		if r.err = r.meter.Spend(1 + bytes*r.steps/stepsPerUnit); r.err != nil {
			r.text = r.text[:r.at]
			return 0, 0, io.EOF
		}
		r.paid = r.at + bytes
	}
	c, size = utf8.DecodeRuneInString(r.text[r.at:])
	r.at += size
	return c, size, nil
}

// MatchWithin reports whether the pattern matches in a text. With an error of the meter,
// there is no answer.
func (p Pattern) MatchWithin(m Meter, text string) (bool, error) {
	return within(m, text, p.size, p.re.MatchString, p.re.MatchReader)
}

// FindWithin returns where the first match begins and ends, nil for none.
func (p Pattern) FindWithin(m Meter, text string) ([]int, error) {
	return within(m, text, p.size, p.re.FindStringIndex, p.re.FindReaderIndex)
}

// GroupsWithin returns the first match and its groups, as
// [regexp.Regexp.FindStringSubmatch] does; nil for none.
func (p Pattern) GroupsWithin(m Meter, text string) ([]string, error) {
	steps := p.size * (1 + p.re.NumSubexp()/4) // each instruction has a copy of the groups
	at, err := within(m, text, steps, p.re.FindStringSubmatchIndex, p.re.FindReaderSubmatchIndex)
	if at == nil || err != nil {
		return nil, err
	}
	groups := make([]string, len(at)/2)
	for i := range groups {
		if at[2*i] >= 0 {
			groups[i] = text[at[2*i]:at[2*i+1]]
		}
	}
	return groups, nil
}
