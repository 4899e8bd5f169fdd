package inspectors

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// What a pattern may have at most. RE2 takes time in proportion to the text and
// to the instructions, and cannot be stopped.
const (
	maxPattern      = 500 // bytes
	maxInstructions = 1000
)

// An expectation is a demand on a content.
type expectation struct {
	word string // contains, lacks, matches
	text string
	re   *regexp.Regexp
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

func compile(source string) (*regexp.Regexp, error) {
	if len(source) > maxPattern {
		return nil, fmt.Errorf("a pattern has more than %d bytes", maxPattern)
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxInstructions {
		return nil, fmt.Errorf("the pattern %q is too large", source)
	}
	return regexp.Compile(source)
}

// A content is what was read of something, and whether there is more.
type content struct {
	bytes []byte
	cut   bool
}

// expect says whether a content is as expected. Of one that was not read to its
// end that may be unknown.
func (c content) expect(name string, e expectation) finding {
	var found bool
	if e.re != nil {
		found = e.re.Match(c.bytes)
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
func (c content) expectAll(name string, all []expectation) []finding {
	var found []finding
	for _, e := range all {
		found = append(found, c.expect(name, e))
	}
	return found
}

// squeezed is a text with each run of blanks as one.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
