package schema

import (
	"regexp/syntax"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// maxMatching is the maximum length of a text from [Matching], in bytes.
const maxMatching = 10_000

// Matching returns a text that matches a regular expression. It writes fill
// where the expression takes any text. ok is false if no text was found;
// Matching does not support lookahead, word boundaries and the like. The result
// depends only on the arguments.
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
	matches, err := re.MatchWithin(newBudget(nil), b.String())
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

// member returns a character of a class. It prefers a letter or a digit.
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
