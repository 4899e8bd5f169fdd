package jinja

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// written is a number that prints as the caller's JSON has it, where Python
// would write it differently: 1.10, 1e2, 0.00001, -0. Computing takes its value,
// an int64 or a float64; comparing takes every digit.
type written struct {
	text  string
	value any
}

// maxDigits limits an integer, as in Python. maxExponent limits the exponent
// and the length of a number's text.
const (
	maxDigits   = 4300
	maxExponent = 10_000
)

// number reads a JSON number as Python's decoder does: one without point and exponent is an integer.
func (r *render) number(n json.Number) any {
	text := string(n)
	if !json.Valid([]byte(text)) || strings.Trim(text, "-0123456789.eE+") != "" {
		r.fail("the value %s is not a number", shortened(strconv.Quote(text)))
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			r.fail("the exponent of %s is larger than %d", shortened(text), maxExponent)
		}
	} else if !strings.Contains(text, ".") {
		return r.integerText(text)
	}
	if len(text) > maxExponent {
		r.fail("a number of more than %d digits cannot be used in a template", maxExponent)
	}
	f, _ := strconv.ParseFloat(text, 64) // one that is too large is infinite: see real
	if floatText(f) == text {
		return f
	}
	return written{text, f}
}

// integerText reads an integer of decimal digits.
func (r *render) integerText(text string) any {
	if text == "-0" {
		return written{text, int64(0)}
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	if len(text) > maxDigits {
		r.fail("an integer of more than %d digits cannot be used in a template", maxDigits)
	}
	return json.Number(text)
}

// asWide returns any integer as a big.Int, or nil for other values.
func asWide(v any) *big.Int {
	if n, ok := v.(json.Number); ok {
		i, _ := new(big.Int).SetString(string(n), 10)
		return i
	}
	if i, ok := asInt(v); ok {
		return big.NewInt(i)
	}
	return nil
}

// whole is an integer as a value: an int64 where it fits.
func (r *render) whole(i *big.Int) any {
	if i.IsInt64() {
		return i.Int64()
	}
	if i.BitLen() > 4*maxDigits {
		r.fail("an integer of more than %d digits", maxDigits)
	}
	r.scan(i.BitLen())
	return r.integerText(i.String())
}

// wideArithmetic is Python's, for integers of any size.
func (r *render) wideArithmetic(operator string, a, b *big.Int) any {
	if b.Sign() == 0 && (operator == "/" || operator == "//" || operator == "%") {
		r.fail("division by zero")
	}
	r.scan(a.BitLen() + b.BitLen())
	result := new(big.Int)
	switch operator {
	case "+":
		result.Add(a, b)
	case "-":
		result.Sub(a, b)
	case "*":
		result.Mul(a, b)
	case "/":
		quotient, _ := new(big.Rat).SetFrac(a, b).Float64()
		if math.IsInf(quotient, 0) {
			r.fail("the result of / is too large for a float")
		}
		return quotient
	case "**":
		return r.widePower(a, b)
	default:
		// Euclid's remainder is never negative, Python's has the sign of b.
		remainder := new(big.Int)
		result.DivMod(a, b, remainder)
		if b.Sign() < 0 && remainder.Sign() > 0 {
			result.Sub(result, big.NewInt(1))
			remainder.Add(remainder, b)
		}
		if operator == "%" {
			return r.whole(remainder)
		}
	}
	return r.whole(result)
}

func (r *render) widePower(a, b *big.Int) any {
	if b.Sign() < 0 {
		return r.floatArithmetic("**", r.floatOf(r.whole(a)), r.floatOf(r.whole(b)))
	}
	if a.BitLen() > 1 && (!b.IsInt64() || b.Int64() > 4*maxDigits || int64(a.BitLen()-1)*b.Int64() > 4*maxDigits) {
		r.fail("the result of ** is an integer of more than %d digits", maxDigits)
	}
	if a.BitLen() <= 1 { // -1, 0 and 1
		b = new(big.Int).Add(new(big.Int).Mod(b, big.NewInt(2)), big.NewInt(int64(2*min(b.Sign(), 1))))
	}
	r.scan(4 * maxDigits)
	return r.whole(new(big.Int).Exp(a, b, nil))
}

// real returns a number as a float; ok is false if v is no number.
func (r *render) real(v any) (f float64, ok bool) {
	if n := asWide(v); n != nil {
		f, _ = new(big.Float).SetInt(n).Float64()
	} else if f, ok = asFloat(v); !ok {
		return 0, false
	}
	if _, given := v.(float64); !given && math.IsInf(f, 0) {
		r.fail("the number %s is too large to compute with", shortened(r.repr(v)))
	}
	return f, true
}

// exactly returns the value of a finite number. For a float, it is the value
// that Python uses. It returns nil for other values.
func exactly(v any) *big.Rat {
	switch v := v.(type) {
	case written:
		rat, _ := new(big.Rat).SetString(v.text)
		return rat
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return new(big.Rat).SetFloat64(v)
	}
	if i := asWide(v); i != nil {
		return new(big.Rat).SetInt(i)
	}
	return nil
}

// asText is exactly, but a float stands for the digits of its text.
func asText(v any) *big.Rat {
	if f, ok := v.(float64); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
		rat, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
		return rat
	}
	return exactly(v)
}

// wideOrder compares two numbers of which one is wide.
func wideOrder(a, b any) (order int, ok bool) {
	x, y := exactly(a), exactly(b)
	_, left := a.(written)
	_, right := b.(written)
	if left || right {
		x, y = asText(a), asText(b)
	}
	if x != nil && y != nil {
		return x.Cmp(y), true
	}
	f, isFloat := a.(float64)
	g, bothFloat := b.(float64)
	switch {
	case isFloat && math.IsNaN(f) || bothFloat && math.IsNaN(g):
		return 2, true
	case isFloat && y != nil: // infinite
		return int(math.Copysign(1, f)), true
	case bothFloat && x != nil:
		return -int(math.Copysign(1, g)), true
	}
	return 0, false
}

// hashed returns a number in the same form for all equal numbers.
func hashed(v any) any {
	x := exactly(v)
	w, isWritten := v.(written)
	switch {
	case x == nil: // not finite
		return v
	case x.IsInt() && x.Num().IsInt64():
		return x.Num().Int64()
	case x.IsInt():
		return wideHash(x.Num().String())
	case !isWritten:
		return v
	case x.Cmp(asText(w.value)) == 0:
		return w.value
	}
	return wideHash(x.RatString())
}

// wideHash is the hash of a number that neither int64 nor float64 can
// represent.
type wideHash string
