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

// maxNeedles is how many texts one of which must be there are looked for, and
// maxNeedle how many bytes of each: a text is compared with all of them at each byte.
const (
	maxNeedles = 16
	maxNeedle  = 32
)

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
		text = cut(text)
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
	return []needle{{cut(best), true}}
}

// cut is the beginning of a needle that is long.
func cut(text string) string {
	end := min(len(text), maxNeedle)
	for ; end < len(text) && !utf8.RuneStart(text[end]); end++ {
	}
	return text[:end]
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

// stride is how many bytes are searched for a needle between two payments.
const stride = 1 << 15

// next is where the needle stands in a text from a place on, or the text's length.
func (n needle) next(m Meter, text string, from int) (int, error) {
	if m == nil {
		return from + n.index(text[from:]), nil
	}
	for from < len(text) {
		end := min(from+stride, len(text))
		if err := m.Spend(1 + (end-from)/16); err != nil {
			return 0, err
		}
		within := text[from:min(end+len(n.text)-1, len(text))]
		if i := n.index(within); i < len(within) {
			return from + i, nil
		}
		from = end
	}
	return len(text), nil
}

// hopeless reports whether none of the needles stands in a text.
func (p Pattern) hopeless(m Meter, text string) (bool, error) {
	for _, n := range p.needles {
		if at, err := n.next(m, text, 0); err != nil || at < len(text) {
			return false, err
		}
	}
	return len(p.needles) > 0, nil
}

// Match reports whether the pattern matches in a text, in any time that it takes:
// for patterns of this module.
func (p Pattern) Match(text string) bool {
	matches, _ := p.MatchWithin(nil, text)
	return matches
}

// Find returns where the first match begins and ends, nil for none, in any time that
// it takes: for patterns of this module.
func (p Pattern) Find(text string) []int {
	at, _ := p.FindWithin(nil, text)
	return at
}

// MatchWithin reports whether the pattern matches in a text. The error is the
// meter's: then there is no answer.
func (p Pattern) MatchWithin(m Meter, text string) (bool, error) {
	if len(p.needles) == 0 {
		return p.matched(m, text)
	}
	next := make([]int, len(p.needles)) // where each stands next
	for from := 0; ; {
		at := len(text)
		for i, n := range p.needles {
			if from == 0 || next[i] < from {
				var err error
				if next[i], err = n.next(m, text, from); err != nil {
					return false, err
				}
			}
			at = min(at, next[i])
		}
		if at == len(text) {
			return false, nil
		}
		if !p.byLine {
			return p.matched(m, text)
		}
		start, end := from+strings.LastIndexByte(text[from:at], '\n')+1, len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		if matches, err := p.matched(m, text[start:end]); matches || err != nil {
			return matches, err
		}
		if from = end + 1; from > len(text) {
			return false, nil
		}
	}
}
