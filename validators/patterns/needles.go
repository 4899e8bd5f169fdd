package patterns

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A needle is a text that stands in whatever a pattern matches. A text without it
// need not be matched, and looking for it is a hundred times as fast.
type needle struct {
	text string
	fold bool // in small letters; it may stand there in either case
}

// maxNeedles is how many texts one of which must be there are looked for.
const maxNeedles = 16

// needles are texts of which one stands in whatever the expression matches; none
// where nothing is known.
func needles(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if n := needles(sub); shortest(n) > shortest(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			n := needles(sub)
			if len(n) == 0 || len(all)+len(n) > maxNeedles {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

func shortest(all []needle) int {
	n := 0
	for i, one := range all {
		if i == 0 || len(one.text) < n {
			n = len(one.text)
		}
	}
	return n
}

// literal is the longest part of a literal that is looked for. Where cases are
// one, k and s are left out, which K (Kelvin) and ſ are too, and so are
// letters that are not ASCII.
func literal(re *syntax.Regexp) []needle {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		if strings.ContainsRune(text, utf8.RuneError) {
			return nil // it matches what is not UTF-8
		}
		return []needle{{text, false}}
	}
	best := ""
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r > unicode.MaxASCII || r == 'k' || r == 's' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	if best == "" {
		return nil
	}
	return []needle{{best, true}}
}

// byLine says that each line can be matched by itself: the expression matches no
// line feed, and knows no beginning or end of the text.
func byLine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpAnyChar:
		return false
	case syntax.OpLiteral:
		return !strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return false
			}
		}
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !byLine(sub) })
}

// index is where a needle stands, or the text's length.
func (n needle) index(text string) int {
	if !n.fold {
		if i := strings.Index(text, n.text); i >= 0 {
			return i
		}
		return len(text)
	}
	first := n.text[0]
	upper := strings.ToUpper(n.text[:1])[0]
	for i := 0; i+len(n.text) <= len(text); i++ {
		if c := text[i]; (c == first || c == upper) && strings.EqualFold(text[i:i+len(n.text)], n.text) {
			return i
		}
	}
	return len(text)
}

// hopeless says that none of the needles stands in a text.
func (p Pattern) hopeless(text string) bool {
	for _, n := range p.needles {
		if n.index(text) < len(text) {
			return false
		}
	}
	return len(p.needles) > 0
}

// Match says whether the pattern matches somewhere in a text.
func (p Pattern) Match(text string) bool {
	if len(p.needles) == 0 {
		return p.re.MatchString(text)
	}
	next := make([]int, len(p.needles)) // where each stands next
	for from := 0; ; {
		at := len(text)
		for i, n := range p.needles {
			if from == 0 || next[i] < from {
				next[i] = from + n.index(text[from:])
			}
			at = min(at, next[i])
		}
		if at == len(text) {
			return false
		}
		if !p.byLine {
			return p.re.MatchString(text)
		}
		start, end := from+strings.LastIndexByte(text[from:at], '\n')+1, len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		if p.re.MatchString(text[start:end]) {
			return true
		}
		if from = end + 1; from > len(text) {
			return false
		}
	}
}
