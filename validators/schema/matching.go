package schema

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// maxMatching bounds what [Matching] writes, in bytes.
const maxMatching = 10_000

// Matching gives a text that the regular expression matches, with fill where it
// takes anything at all; false where it found none: word boundaries and the like
// are not looked ahead to. The same expression always gives the same text.
func Matching(pattern, fill string) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	match(&b, tree.Simplify(), fill)
	re, err := regexp.Compile(pattern)
	return b.String(), err == nil && b.Len() <= maxMatching && re.MatchString(b.String())
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
