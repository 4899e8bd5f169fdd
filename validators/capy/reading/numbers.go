package reading

import (
	"bytes"
	"strconv"
)

// A number is a number as a text shows it.
type number struct {
	value   float64
	digits  int8 // shown behind the point
	percent bool
	money   bool
	scaled  bool // with K, M, million, x …: not a value per share, nor a rate
	times   bool // with x: 1.6x
	points  bool // in hundredths of a percent
	plus    bool // with a plus sign: a change, or no more than a sign
	word    bool // a word follows: "3 scenarios"
	grouped bool // one comma, three digits before the end: 12,700 may be 12.7
	end     int  // the offset behind it
}

// readNumber reads the number at t[i:]: a sign, a currency, digits with or
// without thousands separators, a unit.
func readNumber(t []byte, i int) (number, bool) {
	var n number
	negative := false
	for range 4 {
		start := i
		if w := minus(t[i:]); w > 0 {
			negative = negative || t[i] != '+'
			n.plus = n.plus || t[i] == '+'
			i += w
		}
		if w := currency(t[i:]); w > 0 {
			n.money = true
			i += w
		}
		if i == start {
			break
		}
	}
	var buf [40]byte
	digits := buf[:0]
	if negative {
		digits = append(digits, '-')
	}
	digits, end, fraction := readDigits(t, i, digits)
	if end == i || len(digits) > 32 {
		return n, false
	}
	v, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		return n, false
	}
	n.value, n.digits, n.end = v, int8(fraction), end
	n.grouped = fraction == 0 && end-i > 4 && end-i < 7 && t[end-4] == ','
	whole := n.unit(t)
	n.money = n.money && !n.percent && !(fraction > 0 && i > 0 && t[i-1] == '$' && n.end < len(t) && t[n.end] == '$') // $12.7\%$ and $1.6$ are LaTeX
	return n, whole
}

// readDigits copies the digits and the point at t[i:] without separators: 12850 of
// 12,850, 12.7 of 12,7, 1234.56 of 1.234,56, but 12 of 12,85,90, which is a list.
func readDigits(t []byte, i int, into []byte) (digits []byte, end, fraction int) {
	start, group, point := i, i, false
	for i < len(t) && len(into) <= 32 {
		switch c := t[i]; {
		case isDigit(c):
			into = append(into, c)
			if point {
				fraction++
			}
		case c == '.' && !point && i+1 < len(t) && isDigit(t[i+1]):
			point = true
			into = append(into, '.')
		case c == ',' && !point && i > start && t[start] != '0' && thousands(t[i+1:]):
		case (c == 0xC2 || c == 0xE2 || c == '\'') && !point && i > group && i-group < 4 && t[start] != '0' && apart(t[i:]) > 0:
			group = i + apart(t[i:])
			i = group - 1
		case c == ',' && i > start && (!point || fraction == 3 && t[start] != '0') && decimals(t, start, i):
			if point { // it parted thousands
				into = append(into[:len(into)-4], into[len(into)-3:]...)
			}
			point, fraction = true, 0
			into = append(into, '.')
		default:
			return into, i, fraction
		}
		i++
	}
	return into, i, fraction
}

// apart is the length of what parts thousands without a comma, with three digits behind it:
// of a no-break or thin space, and of the ' of 1'241.
func apart(t []byte) int {
	for _, s := range []string{"\u00a0", "\u2009", "\u202f", "\u2007", "'", "’"} {
		if bytes.HasPrefix(t, []byte(s)) && thousands(t[len(s):]) {
			return len(s)
		}
	}
	return 0
}

func thousands(t []byte) bool {
	return len(t) >= 3 && isDigit(t[0]) && isDigit(t[1]) && isDigit(t[2]) && (len(t) == 3 || !isDigit(t[3]))
}

// decimals tells a decimal comma at t[i], of a number that begins at start, from one
// of a list: 12,7 and 0,125 from 1,2,3 and 0.1,0.2.
func decimals(t []byte, start, i int) bool {
	end := i + 1
	for end < len(t) && isDigit(t[end]) {
		end++
	}
	listed := end+1 < len(t) && (t[end] == ',' || t[end] == '.') && isDigit(t[end+1]) || start > 1 && t[start-1] == ',' && isDigit(t[start-2])
	return end > i+1 && !listed && (end != i+4 || t[start] == '0')
}

// minus gives the length of a sign in front of a number.
func minus(t []byte) int {
	switch {
	case len(t) == 0:
		return 0
	case t[0] == '+' || t[0] == '-':
		return 1
	case t[0] != 0xE2:
	case bytes.HasPrefix(t, []byte("−")), bytes.HasPrefix(t, []byte("–")) && len(t) > 3 && (isDigit(t[3]) || moneySign(t[3:]) > 0):
		return 3
	}
	return 0
}

// unit reads what stands right behind the digits; false means that this is no
// number of its own: a version, an ordinal, a name.
func (n *number) unit(t []byte) bool {
	i := n.end
	rest := t[i:]
	switch {
	case len(rest) == 0:
		return true
	case rest[0] == '%':
		n.percent, n.end = true, i+1
		return true
	case (rest[0] == '\\' || rest[0] >= 0x80) && percentSign(rest) > 0:
		n.percent, n.end = true, i+percentSign(rest)
		return true
	case rest[0] == '.' && len(rest) > 1 && isDigit(rest[1]):
		return false
	case isLetter(rest[0]):
		if c := coinBehind(rest); c > 0 {
			n.money, n.end = true, i+c
			return true
		}
		if rest[0] < 0x80 {
			return n.suffix(t)
		}
	}
	n.following(t)
	return true
}

// percentSign gives the length of a percent sign, of \% and of the \\% of a string too.
func percentSign(t []byte) int {
	switch {
	case t[0] == '%':
		return 1
	case t[0] == '\\':
		if rest := bytes.TrimLeft(t[:min(len(t), 3)], `\`); len(rest) > 0 && rest[0] == '%' {
			return min(len(t), 3) - len(rest) + 1
		}
	case bytes.HasPrefix(t, []byte("％")):
		return len("％")
	}
	return 0
}

// suffix reads the letters that touch the digits: 14.5M, 3.2x. Others make it no
// number.
func (n *number) suffix(t []byte) bool {
	w := wordAt(t, n.end)
	switch string(w) {
	case "K", "k", "M", "MM", "m", "mm", "B", "b", "bn", "BN", "T", "mn":
		n.scaled = true
	case "x", "X":
		n.scaled, n.times = true, true
	case "bps", "bp":
		n.end += len(w)
		n.basis(t)
		return true
	case "pct", "PCT":
		n.percent = true
	default:
		return false
	}
	n.end += len(w)
	return true
}

// basis makes a number one of basis points; a word behind them says of what, and
// from what to what.
func (n *number) basis(t []byte) {
	n.scaled, n.points = true, true
	rest := bytes.TrimLeft(t[n.end:min(len(t), n.end+8)], " ")
	n.word = len(rest) > 0 && isLetter(rest[0])
}

// following reads the word behind a space, as far as it is a unit.
func (n *number) following(t []byte) {
	i := n.end
	if i+1 >= len(t) {
		return
	}
	space := 1
	if t[i] != ' ' {
		if space = blankRune(t[i:]); space == 0 {
			return
		}
	}
	if i += space - 1; i+1 >= len(t) {
		return
	}
	if c := t[i+1]; !isASCIIWord(c) {
		if p := percentSign(t[i+1:]); p > 0 {
			n.percent, n.end = true, i+1+p
			return
		}
	}
	if !isLetter(t[i+1]) {
		return
	}
	if c := coinBehind(t[i+1:]); c > 0 {
		if moneySign(t[i+1:]) == c && i+1+c < len(t) && isDigit(t[i+1+c]) {
			return // that of the next: State 3 £6.61
		}
		if !n.money { // else it may be that of the next: £12 USD 15
			n.end = i + 1 + c
		}
		n.money = true
		return
	}
	w := wordAt(t, i+1)
	var buf wordBuffer
	switch string(buf.fold(w)) {
	case "percent", "pct", "pp":
		n.percent, n.end = true, i+1+len(w)
	case "million", "billion", "thousand", "trillion", "basis", "mm", "bn":
		n.scaled, n.end = true, i+1+len(w)
	case "bps", "bp":
		n.end = i + 1 + len(w)
		n.basis(t)
	case "per":
		if cent, ok := hasFold(t[i+1+len(w):], " cent"); ok && (i+1+len(w)+cent == len(t) || !isASCIIWord(t[i+1+len(w)+cent])) {
			n.percent, n.end = true, i+1+len(w)+cent
		}
		n.money = !n.percent
	case "usd", "eur", "brl", "gbp", "cad", "aud", "jpy", "chf", "dollars", "euros", "pounds", "pence", "yen", "yuan", "won", "rupees", "francs", "kroner", "kronor", "reais", "pesos":
		n.money = true
	default:
		n.word = true
	}
}

// Number reads a text that is one number and nothing else.
func Number(text string) (v float64, ok bool) {
	n, ok := readNumber([]byte(text), 0)
	return n.value, ok && n.end == len(text)
}
