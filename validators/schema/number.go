package schema

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// Whole gives a number as the integer that it is, whichever way it is written:
// 3, 3.0, 3e0. It is false for what is none, or has more than 64 bits.
func Whole(v any) (int, bool) {
	if i, ok := v.(int); ok {
		return i, true
	}
	text, ok := written(v)
	if !ok {
		return 0, false
	}
	d := decimalOf(text)
	if d.digits == "" {
		return 0, true
	}
	if d.point < len(d.digits) || d.point > 19 {
		return 0, false
	}
	i, err := strconv.Atoi(d.sign() + d.digits + strings.Repeat("0", d.point-len(d.digits)))
	return i, err == nil
}

// Compare orders two numbers of plain values, by the decimal numbers that they
// are written as: no digit is dropped, and 0.1 is the 0.1 of any text. ok is
// false where one of them is no number, or is none that can be written.
func Compare(a, b any) (order int, ok bool) {
	x, whole := a.(int)
	y, both := b.(int)
	if whole && both {
		return cmp.Compare(x, y), true
	}
	f, float := a.(float64)
	g, floats := b.(float64)
	if float && floats {
		return cmp.Compare(f, g), f == f && g == g
	}
	s, ok := written(a)
	t, okay := written(b)
	if !ok || !okay {
		return 0, false
	}
	return decimalOf(s).compare(decimalOf(t)), true
}

// written is a number as text.
func written(v any) (string, bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case float64:
		return strconv.FormatFloat(v, 'e', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.Number:
		_, err := jsonvalue.Number(string(v))
		return string(v), err == nil && json.Valid([]byte(v))
	}
	return "", false
}

// Digits is a number in one spelling for all that are equal: 100, 1e2 and 100.0
// are 1e3, which is 0.1 · 10³. It is false for what is no number.
func Digits(v any) (string, bool) {
	text, ok := written(v)
	if !ok {
		return "", false
	}
	d := decimalOf(text)
	return d.sign() + d.digits + "e" + strconv.Itoa(d.point), true
}

// A decimal is ±0.digits · 10^point, its digits without zeros at either end;
// zero has none.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// decimalOf reads a number that [jsonvalue.Number] accepts.
func decimalOf(text string) decimal {
	mantissa, exponent, _ := jsonvalue.CutExponent(text)
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	point, _ := strconv.Atoi(exponent)
	point += len(whole)
	digits := strings.TrimLeft(whole+fraction, "0")
	point -= len(whole) + len(fraction) - len(digits)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return decimal{}
	}
	return decimal{negative, digits, point}
}

func (d decimal) sign() string {
	if d.negative {
		return "-"
	}
	return ""
}

func (d decimal) compare(e decimal) int {
	a, b := d.rank(), e.rank()
	if a != b || a == 0 {
		return cmp.Compare(a, b)
	}
	return a * cmp.Or(cmp.Compare(d.point, e.point), strings.Compare(d.digits, e.digits))
}

// rank is -1, 0 or 1 for what is less than, is or is more than zero.
func (d decimal) rank() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}
