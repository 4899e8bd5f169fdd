package patterns

import (
	"regexp"
	"regexp/syntax"
)

// A Pattern is a compiled regular expression that knows what it costs, and what
// to look for in a long text before it is matched. Make one with [Compile].
type Pattern struct {
	re      *regexp.Regexp
	size    int
	needles []needle // one of them stands in whatever it matches
	byLine  bool     // each line can be matched by itself
}

// Compile reads a pattern in Go's syntax.
func Compile(source string) (Pattern, error) {
	re, err := regexp.Compile(source)
	if err != nil {
		return Pattern{}, err
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return Pattern{}, err
	}
	found, lines := needles(parsed), byLine(parsed)
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{re, len(program.Inst), found, lines}, nil
}

// Size is in instructions. RE2 takes time in proportion to the text's length times
// these: each can take 10 ns for a byte of text, and takes a quarter of that on most.
func (p Pattern) Size() int { return p.size }

// Find is where the first match begins and ends, nil where there is none.
func (p Pattern) Find(text string) []int {
	if p.hopeless(text) {
		return nil
	}
	return p.re.FindStringIndex(text)
}
