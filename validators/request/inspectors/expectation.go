package inspectors

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Limits of a pattern in a request.
const (
	maxPattern      = 500 // bytes
	maxInstructions = 1000
)

// An expectation is a demand on a content.
type expectation struct {
	word string // contains, lacks, matches
	text string
	re   *patterns.Pattern
}

// parseExpectation reads what stands behind a word, if it is one of an
// expectation's.
func parseExpectation(w word, l *lexer) (e expectation, is bool, err error) {
	switch {
	case w.is("contains"), w.is("lacks"):
		text, err := l.argument(w.text)
		return expectation{word: w.text, text: text}, true, err
	case w.is("matches"):
		source, err := l.pattern()
		if err != nil {
			return e, true, err
		}
		re, err := compile(source)
		return expectation{word: w.text, text: source, re: re}, true, err
	}
	return e, false, nil
}

func compile(source string) (*patterns.Pattern, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("a pattern has more than %d bytes", maxPattern)
	}
	p, err := patterns.Compile(source)
	if err == nil && p.Size() > maxInstructions {
		err = fmt.Errorf("the pattern %q is too large: its repeats expand to %d instructions, and the maximum is %d", source, p.Size(), maxInstructions)
	}
	return &p, err
}

// A content is what was read of something, and whether there is more.
type content struct {
	bytes []byte
	cut   bool
}

// expect checks a content. The finding is blocked if the content was not read to its
// end, or if a pattern takes too much work.
func (c content) expect(ctx context.Context, name string, e expectation) finding {
	var found bool
	if e.re != nil {
		var err error
		if found, err = e.re.MatchWithin(patterns.NewBudget(ctx.Err), string(c.bytes)); err != nil {
			return blocked("%s: %v", name, err)
		}
	} else {
		found = bytes.Contains(c.bytes, []byte(e.text))
	}
	what := fmt.Sprintf("%q", clip(e.text, 200))
	if e.re != nil {
		what = "a match of " + what
	}
	switch {
	case c.cut && !found:
		return blocked("%s has no %s in its first %d bytes, and more was not read", name, what, len(c.bytes))
	case found && e.word != "lacks":
		return holds("%s contains %s", name, what)
	case found:
		return fails(fmt.Sprintf("remove %s from %s", what, name), "%s contains %s, which it must not", name, what)
	case e.word == "lacks":
		return holds("%s does not contain %s", name, what)
	}
	return fails(fmt.Sprintf("make %s contain %s", name, what), "%s does not contain %s", name, what)
}

// expectAll joins the findings of all expectations.
func (c content) expectAll(ctx context.Context, name string, all []expectation) []finding {
	var found []finding
	for _, e := range all {
		found = append(found, c.expect(ctx, name, e))
	}
	return found
}

// squeezed is a text with each run of blanks as one.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
