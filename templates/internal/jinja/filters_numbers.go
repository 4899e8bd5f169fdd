package jinja

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
)

func numberFilters() []*function {
	return []*function{
		define("abs", "", absolute),
		define("int", "default=0 base=10", toInt),
		define("float", "default=0.0", toFloat),
		define("round", "precision=0 method='common'", round),
	}
}

func absolute(r *render, v any, _ []any) any {
	if i := asWide(r.defined(v)); i != nil {
		return r.whole(i.Abs(i))
	}
	f, ok := r.real(v)
	if !ok {
		r.fail("abs takes a number and not a %s", typeName(v))
	}
	return math.Abs(f)
}

// toInt implements Jinja2's int: a value that is not a number becomes the
// default.
func toInt(r *render, v any, a []any) any {
	switch v := r.defined(v).(type) {
	case json.Number:
		return v
	case written:
		x := exactly(v)
		return r.whole(new(big.Int).Quo(x.Num(), x.Denom()))
	case float64:
		if math.IsNaN(v) {
			return a[0]
		}
		return r.truncated(v)
	case string, markup:
		s, _ := text(v)
		r.scan(len(s))
		if i, ok := r.parsedInt(s, int(r.integer(a[1], "the base"))); ok {
			return i
		}
		f, ok := parsedFloat(s)
		if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
			return a[0]
		}
		return r.truncated(f)
	}
	if i, ok := asInt(v); ok {
		return i
	}
	return a[0]
}

func (r *render) truncated(f float64) any {
	if math.IsInf(f, 0) {
		r.fail("the number %s is no integer", floatText(f))
	}
	whole, _ := big.NewFloat(f).Int(nil)
	return r.whole(whole)
}

var digitGroups = patterns.Lazy(`^[+-]?(0[xobXOB]_?)?[0-9A-Za-z]+(_[0-9A-Za-z]+)*$`)

// parsedInt implements Python's int(s, base).
func (r *render) parsedInt(s string, base int) (any, bool) {
	s = strings.TrimFunc(s, isSpace)
	if base != 0 && (base < 2 || base > 36) || !digitGroups().MatchString(s) {
		return nil, false
	}
	digits := strings.ReplaceAll(s, "_", "")
	sign := ""
	if digits[0] == '+' || digits[0] == '-' {
		sign, digits = digits[:1], digits[1:]
	}
	prefix := map[int]string{2: "0b", 8: "0o", 16: "0x"}[base]
	if prefix != "" && len(digits) > 2 && strings.EqualFold(digits[:2], prefix) {
		digits = digits[2:]
	}
	if base == 0 && len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' && strings.Trim(digits, "0") != "" {
		return nil, false
	}
	if len(digits) > 4*maxDigits {
		r.fail("an integer of more than %d digits cannot be used in a template", maxDigits)
	}
	i, ok := new(big.Int).SetString(sign+digits, base)
	if !ok {
		return nil, false
	}
	return r.whole(i), true
}

var floatPattern = patterns.Lazy(`^[+-]?(?i:(\d+(_\d+)*\.?|(\d+(_\d+)*)?\.\d+(_\d+)*)(e[+-]?\d+(_\d+)*)?|inf|infinity|nan)$`)

// parsedFloat implements Python's float(s).
func parsedFloat(s string) (float64, bool) {
	s = strings.TrimFunc(s, isSpace)
	if !floatPattern().MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || math.IsInf(f, 0)
}

func toFloat(r *render, v any, a []any) any {
	if f, ok := r.real(r.defined(v)); ok {
		return f
	}
	if s, ok := text(v); ok {
		r.scan(len(s))
		if f, ok := parsedFloat(s); ok {
			return f
		}
	}
	return a[0]
}

func round(r *render, v any, a []any) any {
	precision := r.integer(a[0], "the precision")
	method, _ := text(a[1])
	switch method {
	case "common":
		return r.rounded(v, precision)
	case "ceil", "floor":
		return r.roundedTo(v, precision, method)
	}
	r.fail("the method of round is common, ceil or floor")
	return nil
}

// rounded implements Python's round: half to even, by the exact value of the
// float.
func (r *render) rounded(v any, precision int64) any {
	if i := asWide(r.defined(v)); i != nil {
		return r.roundedWide(i, precision)
	}
	f, ok := r.real(v)
	if !ok {
		r.fail("round takes a number and not a %s", typeName(v))
	}
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || precision > 323:
		return f
	case precision < -308:
		return math.Copysign(0, f)
	case precision >= 0:
		result, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(precision), 64), 64)
		return result
	}
	return r.roundedTens(f, int(-precision))
}

// roundedTens rounds to a power of ten.
func (r *render) roundedTens(f float64, zeros int) any {
	digits := strconv.FormatFloat(math.Abs(f), 'e', -1, 64)
	exponent, _ := strconv.Atoi(digits[strings.IndexByte(digits, 'e')+1:])
	if exponent < zeros-1 {
		return math.Copysign(0, f)
	}
	if exponent == zeros-1 {
		half, _ := strconv.ParseFloat("5e"+strconv.Itoa(exponent), 64)
		if math.Abs(f) <= half {
			return math.Copysign(0, f)
		}
		whole, _ := strconv.ParseFloat("1e"+strconv.Itoa(zeros), 64)
		return math.Copysign(whole, f)
	}
	result, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', exponent-zeros, 64), 64)
	if err != nil {
		r.fail("the rounded value is too large")
	}
	return result
}

func (r *render) roundedWide(i *big.Int, precision int64) any {
	switch {
	case precision >= 0:
		return r.whole(i)
	case precision < -maxDigits:
		return int64(0)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-precision), nil)
	down, remainder := new(big.Int).DivMod(i, unit, new(big.Int))
	if twice := new(big.Int).Lsh(remainder, 1).Cmp(unit); twice > 0 || twice == 0 && down.Bit(0) == 1 {
		down.Add(down, big.NewInt(1))
	}
	return r.whole(down.Mul(down, unit))
}

// roundedTo implements Jinja2's ceil and floor: func(value * 10**precision) /
// 10**precision.
func (r *render) roundedTo(v any, precision int64, method string) any {
	scale := r.arithmetic("**", int64(10), precision)
	scaled := r.arithmetic("*", r.defined(v), scale)
	if f, ok := scaled.(float64); ok {
		if method == "ceil" {
			f = math.Ceil(f)
		} else {
			f = math.Floor(f)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			r.fail("%s has no value for %s", method, floatText(f))
		}
		scaled = r.truncated(f)
	}
	return r.arithmetic("/", scaled, scale)
}
