package faults

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reading"
)

// numberPattern matches a number in digits. See alone for numbers inside words,
// dates, times, versions and addresses.
var numberPattern = patterns.Lazy(`\d+(?:[.,]\d+)*`)

// A changed number is always bad if the sources contain the number next to the
// same word, and do not contain the new number. A bare number in the sources
// may be a coincidence. Numbers that the sources do not contain may be right
// with another value.

// NumberDigit changes a digit of a number.
var NumberDigit = Operator{"number_digit", "a digit of a number is another", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	t.numberSites(add, func(s string) string {
		at := rng.IntN(len(s))
		for strings.IndexByte(".,", s[at]) >= 0 {
			at = (at + 1) % len(s)
		}
		digit := byte('1' + (int(s[at]-'0')+rng.IntN(8))%9) // another digit, and no leading zero
		if digit == s[at] {
			digit = '0' + (digit-'0')%9 + 1
		}
		return s[:at] + string(digit) + s[at+1:]
	})
}))}

// NumberSign adds or removes the minus sign of a number.
var NumberSign = Operator{"number_sign", "a number has the other sign", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.numberSites(add, func(s string) string {
		if strings.Trim(s, "0.,") == "" {
			return s
		}
		return "-" + s
	})
}))}

// NumberMagnitude multiplies a number by ten.
var NumberMagnitude = Operator{"number_magnitude", "a number is ten times what it was", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.numberSites(add, tenfold)
}))}

// tenfold appends a zero and keeps the distance of separators from the end. The
// result is ten times the number for separators of thousands and of fractions.
func tenfold(s string) string {
	b := []byte(s + "0")
	for i := range len(s) {
		if strings.IndexByte(".,", s[i]) >= 0 {
			b[i], b[i+1] = b[i+1], b[i]
		}
	}
	if b[0] == '0' && strings.IndexByte(".,", b[1]) < 0 {
		b = b[1:]
	}
	return string(b)
}

// shareNext matches the text after a share if another share follows, because
// one sign may belong to both: 5 % to 10 %.
var shareNext = patterns.Lazy(`^[^.;\d\n]{1,8}\d+(?:[.,]\d+)*[ \x{a0}\x{202f}]?%`)

// PercentForValue removes the percent sign of a share.
var PercentForValue = Operator{"percent_for_value", "a share in percent is written as a plain number", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, n := range t.numberSpans() {
		rest := t.Content[n.End:]
		sign := rest[:len(rest)-len(strings.TrimLeft(rest, " \u00a0\u202f"))]
		if strings.HasPrefix(rest[len(sign):], "%") {
			share := n.In(t.Content)
			given := t.wasGiven(share+sign+"%") || t.wasGiven(share+"%")
			add(site{n.End, n.End + len(sign) + 1, "", became(share+sign+"%", share), alwaysIf(given && !shareNext().MatchString(rest[len(sign)+1:]))})
		}
	}
}))}

// numberSites adds a site for each number for which a function returns another
// one.
func (t *Text) numberSites(add func(...site), other func(string) string) {
	for _, n := range t.numberSpans() {
		was := n.In(t.Content)
		from := n.Start
		is := other(was)
		if before, negative := strings.CutSuffix(t.Content[:from], "-"); negative && strings.HasPrefix(is, "-") {
			from, is = len(before), strings.TrimPrefix(is, "-")
		}
		add(site{from, n.End, is, became(was, is), alwaysIf(t.numbers[was] && t.counted(n) && !t.wasGivenNumber(is))})
	}
}

// wasGivenNumber reports whether the sources contain a number with its sign.
func (t *Text) wasGivenNumber(s string) bool {
	return t.numbers[s] || s[0] == '-' && t.wasGiven(s)
}

// counted reports whether the sources contain a number together with the
// preceding or the following word.
func (t *Text) counted(n reading.Span) bool {
	number := n.In(t.Content)
	before, after := strings.Fields(t.Content[max(0, n.Start-40):n.Start]), strings.Fields(t.Content[n.End:min(len(t.Content), n.End+40)])
	if len(before) > 0 {
		if word := before[len(before)-1]; len(word) > 3 && t.wasGiven(word+" "+number) {
			return true
		}
	}
	if len(after) == 0 {
		return false
	}
	word := strings.TrimRight(after[0], ".,;:!?\"')")
	return word != "" && !slices.Contains(common, word) && (t.wasGiven(number+" "+word) || t.wasGiven(number+word))
}

// common are words that may follow any number.
var common = strings.Fields("a and are as at by for from in is of on or the to was were with und der die das")

// numberSpans returns the numbers of the prose.
func (t *Text) numberSpans() []reading.Span {
	return slices.DeleteFunc(t.matches(numberPattern()), func(n reading.Span) bool { return !alone(t.Content, n) })
}

// alone reports whether a number is not part of a larger token, such as
// 2024-05-01, v1, 10:30, #3 or an address.
func alone(text string, n reading.Span) bool {
	before, after := byte(' '), byte(' ')
	if n.Start > 0 {
		before = text[n.Start-1]
	}
	if n.End < len(text) {
		after = text[n.End]
	}
	if before == '-' && (n.Start < 2 || text[n.Start-2] == ' ' || text[n.Start-2] == '(') {
		before = ' '
	}
	if after == ':' && n.End+1 < len(text) && text[n.End+1] >= '0' && text[n.End+1] <= '9' {
		return false // a time
	}
	return strings.IndexByte(" \n\t(\"'$*|=~≈", before) >= 0 && strings.IndexByte(" \n\t).,;:!?\"'%*|", after) >= 0 || before >= 0x80 && after != '/'
}
