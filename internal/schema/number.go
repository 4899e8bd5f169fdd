package schema

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// Whole returns a number as an integer, in any spelling: 3, 3.0, 3e0. ok is
// false for a value that is not an integer of at most 64 bits.
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

// Compare orders two numbers by the decimal numbers that they are written as.
// It drops no digit, so 0.1 is equal to the 0.1 of any text. ok is false if one
// of them is not a number, or is NaN or infinite.
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

// written returns a number as text. ok is false if v is not a number.
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

// Digits returns one spelling for all equal numbers: 100, 1e2 and 100.0 are
// 1e3, which means 0.1 · 10³. ok is false if v is not a number.
func Digits(v any) (string, bool) {
	text, ok := written(v)
	if !ok {
		return "", false
	}
	d := decimalOf(text)
	return d.sign() + d.digits + "e" + strconv.Itoa(d.point), true
}

// A decimal is ±0.digits · 10^point. digits has no zeros at either end; zero
// has no digits.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// decimalOf parses a number that [jsonvalue.Number] accepts.
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

// rank returns -1, 0 or 1 for a negative number, zero or a positive number.
func (d decimal) rank() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}
