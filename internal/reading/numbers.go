package reading

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Number is a number in figures. Letters before a figure make it a part of a name, which
// is no number: R1, H2O, v1.2.
type Number struct {
	Span              // of its sign and figures
	Value    float64  // of the first reading
	Readings []string // decimal, the same for equal numbers; two for 1.200 and 1,200, which languages read differently
	Currency string   // the sign or the three capital letters before the number, or the sign after it
	Unit     string   // the letters or signs directly after the number, or after one blank
	Percent  bool     // a percent sign follows
	To       *Number  // the end of the range that the number begins
}

// Is reports whether two numbers have a reading in common.
func (n Number) Is(other Number) bool {
	for _, a := range n.Readings {
		for _, b := range other.Readings {
			if a == b {
				return true
			}
		}
	}
	return false
}

// Numbers returns the numbers of a text in order. Dates, times and versions are their
// parts: 2024-01-15 is 2024, 1 and 15. Digits of all scripts count.
func Numbers(text string) []Number {
	s := scanner{text: text}
	for s.next() {
		for _, n := range s.figure() {
			s.add(n)
		}
	}
	return s.ranges()
}

type scanner struct {
	text  string
	at    int
	found []Number
}

// next moves to the next digit that begins a number.
func (s *scanner) next() bool {
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		if digit(r) < 0 {
			s.at += size
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s.text[:s.at])
		if s.at > 0 && joined(before) {
			s.name()
			continue
		}
		return true
	}
	return false
}

// joined reports whether a letter before a figure makes it a part of a name. Scripts
// without spaces between words do not.
func joined(r rune) bool {
	return r == '_' || unicode.IsLetter(r) && !unspaced(r) || unicode.IsMark(r)
}

func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// name skips the rest of a name: letters, digits, and dots before digits.
func (s *scanner) name() {
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		after, _ := utf8.DecodeRuneInString(s.text[s.at+size:])
		if digit(r) < 0 && !joined(r) && (r != '.' || digit(after) < 0) {
			return
		}
		s.at += size
	}
}

// digit returns the value of a decimal digit of any script, -1 for another character.
func digit(r rune) int {
	if r < utf8.RuneSelf {
		if r >= '0' && r <= '9' {
			return int(r - '0')
		}
		return -1
	}
	if !unicode.Is(unicode.Nd, r) {
		return -1
	}
	if mathematical := rune(0x1D7CE); r >= mathematical && r < mathematical+50 {
		return int(r-mathematical) % 10
	}
	n := 0 // ten characters in a row are the digits of a script
	for n < 9 && unicode.Is(unicode.Nd, r-rune(n)-1) {
		n++
	}
	return n
}

// A group is digits without a mark between, and the mark before them.
type group struct {
	mark   rune
	digits string
	Span
}

// groups reads digits and the marks between them.
func (s *scanner) groups() []group {
	var list []group
	for mark := rune(0); ; {
		start := s.at
		var digits []byte
		for s.at < len(s.text) {
			r, size := utf8.DecodeRuneInString(s.text[s.at:])
			d := digit(r)
			if d < 0 {
				break
			}
			digits = append(digits, byte('0'+d))
			s.at += size
		}
		list = append(list, group{mark, string(digits), Span{start, s.at}})
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		after, _ := utf8.DecodeRuneInString(s.text[s.at+size:])
		mark = separator(r)
		if mark == 0 || digit(after) < 0 || mark == ' ' && !thousands(s.text[s.at+size:]) {
			return list
		}
		if mark == ' ' && (len(digits) > 3 || list[0].digits[0] == '0' || len(list) > 1 && list[len(list)-1].mark != ' ') {
			return list
		}
		s.at += size
	}
}

// separator returns the mark that a character is between groups of digits, 0 if none.
func separator(r rune) rune {
	switch r {
	case '.', ',', '\'':
		return r
	case '’':
		return '\''
	case '٫', '．':
		return '.'
	case '٬', '，':
		return ','
	case ' ', '\u00a0', '\u2009', '\u202f':
		return ' '
	}
	return 0
}

// thousands reports whether a text begins with exactly three digits.
func thousands(text string) bool {
	for i := range 4 {
		r, size := utf8.DecodeRuneInString(text)
		if (digit(r) < 0) == (i < 3) {
			return false
		}
		text = text[size:]
	}
	return true
}

// figure reads the number at the scanner, or the parts of a date or a version.
func (s *scanner) figure() []Number {
	pointed := s.pointed()
	list := s.groups()
	last := len(list) - 1
	start, joint := list[0].Start, digitsOf(list)
	switch {
	case last == 0 && pointed:
		return s.number(start-1, s.exponent("."+joint))
	case last == 0:
		return s.number(start, s.exponent(joint))
	case list[last].mark == ' ' || list[last].mark == '\'':
		if grouped(list[1:], list[last].mark) {
			return s.number(start, joint)
		}
	case last == 1:
		decimal := list[0].digits + "." + list[1].digits
		if len(list[1].digits) != 3 || len(list[0].digits) > 3 || list[0].digits[0] == '0' {
			return s.number(start, s.exponent(decimal))
		}
		if list[1].mark == ',' {
			return s.number(start, joint, decimal)
		}
		return s.number(start, decimal, joint)
	case grouped(list[1:], list[last].mark):
		return s.number(start, joint)
	case grouped(list[1:last], list[1].mark) && list[1].mark != list[last].mark && list[last].mark != ' ':
		return s.number(start, s.exponent(digitsOf(list[:last])+"."+list[last].digits))
	}
	var parts []Number
	for _, g := range list {
		parts = append(parts, number(g.Span, g.digits))
	}
	return parts
}

// pointed reports whether the figure begins with its decimal point: .5
func (s *scanner) pointed() bool {
	if s.at == 0 || s.text[s.at-1] != '.' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s.text[:s.at-1])
	return s.at == 1 || unicode.IsSpace(before) || unicode.Is(unicode.Sc, before) || strings.ContainsRune("-−+(<>=~[", before)
}

func digitsOf(list []group) string {
	var b strings.Builder
	for _, g := range list {
		b.WriteString(g.digits)
	}
	return b.String()
}

// grouped reports whether a mark groups digits in threes. In Indian numbers, only the
// last group has three digits and the others two.
func grouped(list []group, mark rune) bool {
	for i, g := range list {
		size := len(g.digits)
		if g.mark != mark || size != 3 && (mark != ',' || size != 2 || i == len(list)-1) {
			return false
		}
	}
	return len(list) > 0
}

// exponent adds the exponent that follows a figure: 2e3.
func (s *scanner) exponent(figure string) string {
	rest := s.text[s.at:]
	if rest == "" || rest[0] != 'e' && rest[0] != 'E' {
		return figure
	}
	size := 1
	if size < len(rest) && (rest[size] == '-' || rest[size] == '+') {
		size++
	}
	first := size
	for size < len(rest) && rest[size] >= '0' && rest[size] <= '9' {
		size++
	}
	after, _ := utf8.DecodeRuneInString(rest[size:])
	if size == first || size-first > 2 || unicode.IsLetter(after) {
		return figure
	}
	s.at += size
	return figure + "e" + rest[1:size]
}

func (s *scanner) number(start int, readings ...string) []Number {
	return []Number{number(Span{start, s.at}, readings...)}
}

// number makes a number of its readings, each in digits with at most one point.
func number(at Span, readings ...string) Number {
	n := Number{Span: at}
	for _, r := range readings {
		n.Readings = append(n.Readings, canonical(r))
	}
	n.Value, _ = strconv.ParseFloat(n.Readings[0], 64)
	return n
}

// canonical returns a decimal number without redundant zeros or an exponent.
func canonical(figure string) string {
	figure, exponent, _ := strings.Cut(figure, "e")
	whole, fraction, _ := strings.Cut(figure, ".")
	shift, _ := strconv.Atoi(exponent)
	for ; shift > 0; shift-- {
		if fraction == "" {
			fraction = "0"
		}
		whole, fraction = whole+fraction[:1], fraction[1:]
	}
	for ; shift < 0; shift++ {
		if whole == "" {
			whole = "0"
		}
		whole, fraction = whole[:len(whole)-1], whole[len(whole)-1:]+fraction
	}
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}
