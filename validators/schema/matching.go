package schema

import (
	"regexp/syntax"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// maxMatching bounds what [Matching] writes, in bytes.
const maxMatching = 10_000

// Matching returns a text that the regular expression matches, with fill where it
// takes any text. ok is false if it found none: it does not look ahead to word
// boundaries and the like. The same expression always gives the same text.
func Matching(pattern, fill string) (text string, ok bool) {
	re, err := patterns.Compile(pattern)
	if err != nil {
		return "", false
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	match(&b, tree.Simplify(), fill)
	if b.Len() > maxMatching {
		return b.String(), false
	}
	matches, err := re.MatchWithin(newWork(nil), b.String())
	return b.String(), err == nil && matches
}

func match(b *strings.Builder, re *syntax.Regexp, fill string) {
	if b.Len() > maxMatching {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(member(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpStar, syntax.OpPlus:
		if inner := re.Sub[0].Op; inner == syntax.OpAnyChar || inner == syntax.OpAnyCharNotNL {
			b.WriteString(fill)
			return
		}
		match(b, re.Sub[0], fill)
	case syntax.OpAlternate:
		match(b, re.Sub[0], fill)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			match(b, sub, fill)
		}
	}
}

// member is a character of a class: a letter or a digit where it has one.
func member(ranges []rune) rune {
	for _, want := range "aA0" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return max(ranges[0], min(' ', ranges[1]))
}
