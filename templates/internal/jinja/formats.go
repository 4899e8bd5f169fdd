package jinja

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A layout describes the form of a formatted value. Both formats of Python
// produce it.
type layout struct {
	fill      string // one character
	align     byte   // < > ^ =, or 0 for the default of the type
	sign      byte   // + or space or 0
	alternate bool
	zero      bool
	width     int64
	precision int64 // -1: not set
	grouping  byte  // , or _ or 0
	kind      byte  // the letter of the type, or 0
}

// layNumber formats the digits of a number and its sign.
func (r *render) layNumber(l layout, negative bool, prefix, digits string) string {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case l.sign != 0:
		sign = string(l.sign)
	}
	head := sign + prefix
	if l.zero && l.align == 0 {
		l.align, l.fill = '=', "0"
	}
	if l.align == '=' {
		return head + r.padding(head+digits, l.width, l.fill) + digits
	}
	l.align = cmp.Or(l.align, '>')
	return r.aligned(l, head+digits)
}

func (r *render) aligned(l layout, s string) string {
	switch l.align {
	case '>':
		return r.padding(s, l.width, l.fill) + s
	case '^':
		missing := max(l.width-int64(runeCount(s)), 0)
		r.grow(len(s), product(len(l.fill), missing))
		return strings.Repeat(l.fill, int(missing/2)) + s + strings.Repeat(l.fill, int(missing-missing/2))
	}
	return s + r.padding(s, l.width, l.fill)
}

// layText formats a text. The precision is its maximum number of characters.
func (r *render) layText(l layout, s string) string {
	if l.precision >= 0 && l.precision < int64(len(s)) {
		s = r.slicedText(s, [3]*int64{nil, &l.precision, nil}, 1)
	}
	return r.aligned(l, s)
}

// layInt formats an integer in the base of the layout's kind.
func (r *render) layInt(l layout, i *big.Int) string {
	base, prefix := 10, ""
	switch l.kind {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0x"
	}
	digits := strings.TrimPrefix(i.Text(base), "-")
	if l.kind == 'X' {
		digits, prefix = strings.ToUpper(digits), "0X"
	}
	if !l.alternate {
		prefix = ""
	}
	digits = r.padding(digits, l.precision, "0") + digits
	size := 3
	if base != 10 {
		size = 4
	}
	return r.layNumber(l, i.Sign() < 0, prefix, grouped(digits, l.grouping, size))
}

// layFloat formats a float as e, f or g, or in Python's default format for 0.
func (r *render) layFloat(l layout, f float64) string {
	if l.alternate {
		r.fail("the # of a format is supported for integers only")
	}
	r.grow(0, int(min(max(l.precision, 0), maxOutput))+400)
	if l.precision > 10_000 {
		r.fail("a precision of more than 10000 digits is not supported")
	}
	percent := ""
	kind := l.kind | 0x20 // lower case
	if l.kind == '%' {
		f, kind, percent = f*100, 'f', "%"
	}
	var digits string
	switch size := math.Abs(f); {
	case math.IsNaN(f):
		digits = "nan"
	case math.IsInf(f, 0):
		digits = "inf"
	case l.kind == 0 && l.precision < 0:
		digits = floatText(size)
	case l.kind == 0:
		digits = general(size, max(l.precision, 1), 1)
	case kind == 'g' && l.precision < 0:
		digits = general(size, 6, 0)
	case kind == 'g':
		digits = general(size, max(l.precision, 1), 0)
	case l.precision < 0:
		digits = strconv.FormatFloat(size, kind, 6, 64)
	default:
		digits = strconv.FormatFloat(size, kind, int(l.precision), 64)
	}
	if l.kind >= 'A' && l.kind <= 'Z' {
		digits = strings.ToUpper(digits)
	}
	if l.grouping != 0 && !math.IsNaN(f) && !math.IsInf(f, 0) {
		end := strings.IndexAny(digits+".", ".eE")
		digits = grouped(digits[:end], l.grouping, 3) + digits[end:]
	}
	return r.layNumber(l, math.Signbit(f) && !math.IsNaN(f), "", digits+percent)
}

// general implements the format g of C. With one = 1, a point stays and the
// exponent begins one digit earlier, as in Python's default format.
func general(f float64, precision int64, one int) string {
	scientific := strconv.FormatFloat(f, 'e', int(precision)-1, 64)
	mantissa, written, _ := strings.Cut(scientific, "e")
	exponent, _ := strconv.Atoi(written)
	if exponent < -4 || int64(exponent) >= precision-int64(one) {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + "e" + written
	}
	s := strconv.FormatFloat(f, 'f', int(precision)-1-exponent, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if one > 0 && !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func grouped(digits string, mark byte, size int) string {
	if mark == 0 || len(digits) <= size {
		return digits
	}
	head := len(digits) % size
	parts := []string{}
	if head > 0 {
		parts = append(parts, digits[:head])
	}
	for i := head; i < len(digits); i += size {
		parts = append(parts, digits[i:i+size])
	}
	return strings.Join(parts, string(mark))
}

// wholeOf returns an integer. The verb %d also accepts floats.
func (r *render) wholeOf(v any, kind byte) *big.Int {
	if typeName(v) == "float" && kind == 'd' {
		if f, _ := r.real(v); math.IsNaN(f) || math.IsInf(f, 0) {
			r.fail("%s is no integer", floatText(f))
		}
		v = toInt(r, v, []any{nil, nil})
	}
	if i := asWide(v); i != nil {
		return i
	}
	return big.NewInt(r.integer(v, "the value for %"+string(kind)))
}

func (r *render) floatOf(v any) float64 {
	f, ok := r.real(r.defined(v))
	if !ok {
		r.fail("a number is needed and not a %s", typeName(v))
	}
	return f
}

// charOf returns the character with the given code.
func (r *render) charOf(v any) string {
	i := r.integer(v, "the code of a character")
	if i < 0 || i > 0x10ffff || i >= 0xd800 && i < 0xe000 {
		r.fail("%d is not the code of a character", i)
	}
	return string(rune(i))
}
