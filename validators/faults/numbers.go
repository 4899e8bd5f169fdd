package faults

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// numberPattern is a number in figures that is no part of a word, a date, a time,
// a version or an address.
var numberPattern = patterns.Lazy(`\d+(?:[.,]\d+)*`)

// A number that is changed is always bad where the author was given the number
// with the word beside it, and not what it became: a text that is made of others
// may count only what they count. That a bare number stands in some text that was
// given may be chance, and in a text that makes its numbers another may do as well.

// NumberDigit changes a digit of a number.
var NumberDigit = Operator{"number_digit", "a digit of a number is another", prose(placed(func(t *Text, rng *rand.Rand, add func(...site)) {
	t.numberSites(add, func(s string) string {
		at := rng.IntN(len(s))
		for strings.IndexByte(".,", s[at]) >= 0 {
			at = (at + 1) % len(s)
		}
		digit := byte('1' + (int(s[at]-'0')+rng.IntN(8))%9) // any but its own, and no zero in front
		if digit == s[at] {
			digit = '0' + (digit-'0')%9 + 1
		}
		return s[:at] + string(digit) + s[at+1:]
	})
}))}

// NumberSign takes the minus of a number, or gives it one.
var NumberSign = Operator{"number_sign", "a number has the other sign", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.numberSites(add, func(s string) string {
		if strings.Trim(s, "0.,") == "" {
			return s
		}
		return "-" + s
	})
}))}

// NumberMagnitude makes a number ten times as large.
var NumberMagnitude = Operator{"number_magnitude", "a number is ten times what it was", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	t.numberSites(add, tenfold)
}))}

// tenfold is a number with a zero behind it and its signs as far from the end as they
// were: that is ten times as much whether one parts thousands or a fraction.
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

// shareNext is what stands behind a share where another follows, whose sign may stand
// for both: 5 % to 10 %.
var shareNext = patterns.Lazy(`^[^.;\d\n]{1,8}\d+(?:[.,]\d+)*[ \x{a0}\x{202f}]?%`)

// PercentForValue takes the sign of percent from a share.
var PercentForValue = Operator{"percent_for_value", "a share in percent is told as a plain number", prose(placed(func(t *Text, _ *rand.Rand, add func(...site)) {
	for _, n := range t.numberSpans() {
		rest := t.Content[n.End:]
		sign := rest[:len(rest)-len(strings.TrimLeft(rest, " \u00a0\u202f"))]
		if strings.HasPrefix(rest[len(sign):], "%") {
			share := n.In(t.Content)
			given := t.gave(share+sign+"%") || t.gave(share+"%")
			add(site{n.End, n.End + len(sign) + 1, "", became(share+sign+"%", share), sure(given && !shareNext().MatchString(rest[len(sign)+1:]))})
		}
	}
}))}

// numberSites makes another number of each.
func (t *Text) numberSites(add func(...site), other func(string) string) {
	for _, n := range t.numberSpans() {
		was := n.In(t.Content)
		from := n.Start
		is := other(was)
		if before, negative := strings.CutSuffix(t.Content[:from], "-"); negative && strings.HasPrefix(is, "-") {
			from, is = len(before), strings.TrimPrefix(is, "-")
		}
		add(site{from, n.End, is, became(was, is), sure(t.numbers[was] && t.counted(n) && !t.gaveNumber(is))})
	}
}

// gaveNumber tells whether the author was given a number, with its sign.
func (t *Text) gaveNumber(s string) bool {
	return t.numbers[s] || s[0] == '-' && t.gave(s)
}

// counted tells whether the author was given a number with the word in front of
// it, or behind it.
func (t *Text) counted(n reading.Span) bool {
	number := n.In(t.Content)
	before, after := strings.Fields(t.Content[max(0, n.Start-40):n.Start]), strings.Fields(t.Content[n.End:min(len(t.Content), n.End+40)])
	if len(before) > 0 {
		if word := before[len(before)-1]; len(word) > 3 && t.gave(word+" "+number) {
			return true
		}
	}
	if len(after) == 0 {
		return false
	}
	word := strings.TrimRight(after[0], ".,;:!?\"')")
	return word != "" && !slices.Contains(common, word) && (t.gave(number+" "+word) || t.gave(number+word))
}

// common are words that stand behind any number.
var common = strings.Fields("a and are as at by for from in is of on or the to was were with und der die das")

// numberSpans are the numbers of the prose.
func (t *Text) numberSpans() []reading.Span {
	return slices.DeleteFunc(t.matches(numberPattern()), func(n reading.Span) bool { return !alone(t.Content, n) })
}

// alone tells whether a number stands by itself: in 2024-05-01, v1, 10:30, #3 or an
// address it does not.
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
