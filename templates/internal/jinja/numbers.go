package jinja

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// arithmetic applies the operator +, -, *, /, //, % or ** as Python does.
func (r *render) arithmetic(operator string, left, right any) any {
	if s, ok := text(left); ok && operator == "%" {
		return r.formatted(left, s, right)
	}
	if value, ok := r.sequenceArithmetic(operator, left, right); ok {
		return value
	}
	a, isInt := asInt(left)
	b, bothInt := asInt(right)
	if isInt && bothInt {
		if result, ok := r.integerArithmetic(operator, a, b); ok {
			return result
		}
	}
	if m, n := asWide(left), asWide(right); m != nil && n != nil {
		return r.wideArithmetic(operator, m, n)
	}
	x, ok := r.real(left)
	y, both := r.real(right)
	if !ok || !both {
		r.fail("the operator %s does not take a %s and a %s", operator, typeName(left), typeName(right))
	}
	return r.floatArithmetic(operator, x, y)
}

func asInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case written:
		return asInt(v.value)
	}
	return 0, false
}

// asFloat returns a float, or an integer of 64 bits as one.
func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case written:
		return asFloat(v.value)
	}
	i, ok := asInt(v)
	return float64(i), ok
}

// sequenceArithmetic joins and repeats strings, lists and tuples.
func (r *render) sequenceArithmetic(operator string, left, right any) (any, bool) {
	switch operator {
	case "+":
		return r.joined(left, right)
	case "*":
		if n, ok := asInt(right); ok {
			if value, ok := r.repeated(left, n); ok {
				return value, true
			}
		}
		if n, ok := asInt(left); ok {
			return r.repeated(right, n)
		}
	}
	return nil, false
}

func (r *render) joined(left, right any) (any, bool) {
	if a, ok := text(left); ok {
		b, ok := text(right)
		if !ok {
			return nil, false
		}
		_, safeLeft := left.(markup)
		_, safeRight := right.(markup)
		switch {
		case safeLeft && !safeRight:
			b = escaped(b)
		case safeRight && !safeLeft:
			a = escaped(a)
		}
		r.grow(len(a), len(b))
		r.grow(0, len(a))
		if safeLeft || safeRight {
			return markup(a + b), true
		}
		return a + b, true
	}
	a, kind := sequence(left)
	b, other := sequence(right)
	if kind != other || kind == "" {
		return nil, false
	}
	r.list(len(a) + len(b))
	return sequenceOf(kind, append(append(make([]any, 0, len(a)+len(b)), a...), b...)), true
}

func (r *render) repeated(v any, n int64) (any, bool) {
	n = max(n, 0)
	if s, ok := text(v); ok {
		r.grow(0, product(len(s), n))
		return like(v, strings.Repeat(s, int(n))), true
	}
	items, kind := sequence(v)
	if kind == "" {
		return nil, false
	}
	r.list(product(len(items), n))
	repeated := make([]any, 0, len(items)*int(n))
	for range n {
		repeated = append(repeated, items...)
		r.charge(1)
	}
	return sequenceOf(kind, repeated), true
}

// product is a*b, or the largest int.
func product(a int, b int64) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > math.MaxInt/8 {
		return math.MaxInt / 8
	}
	return int(low)
}

// integerArithmetic is that of 64 bits; ok is false where the result has more.
func (r *render) integerArithmetic(operator string, a, b int64) (any, bool) {
	if b == 0 && (operator == "/" || operator == "//" || operator == "%") {
		r.fail("division by zero")
	}
	result, ok := int64(0), true
	switch operator {
	case "+":
		result = a + b
		ok = (result > a) == (b > 0)
	case "-":
		result = a - b
		ok = (result < a) == (b > 0)
	case "*":
		result, ok = multiplied(a, b)
	case "/":
		if a == 0 {
			return math.Copysign(0, float64(b)), true
		}
		quotient, _ := new(big.Rat).SetFrac64(a, b).Float64()
		return quotient, true
	case "//":
		result, ok = floorQuotient(a, b), a != math.MinInt64 || b != -1
	case "%":
		result = floorRemainder(a, b)
	case "**":
		if b < 0 {
			return r.floatArithmetic(operator, float64(a), float64(b)), true
		}
		result, ok = power(a, b)
	}
	return result, ok
}

func multiplied(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	result := a * b
	return result, result/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

func floorRemainder(a, b int64) int64 {
	if b == -1 {
		return 0
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

func floorQuotient(a, b int64) int64 {
	if b == -1 {
		return -a
	}
	return (a - floorRemainder(a, b)) / b
}

func power(a, b int64) (int64, bool) {
	result, ok := int64(1), true
	for ; b > 0 && ok; b >>= 1 {
		if b&1 == 1 {
			result, ok = multiplied(result, a)
		}
		if b > 1 && ok {
			if a, ok = multiplied(a, a); !ok {
				// The square is used: b has a bit left.
				return 0, false
			}
		}
	}
	return result, ok
}

func (r *render) floatArithmetic(operator string, x, y float64) any {
	switch operator {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return r.floatPower(x, y)
	}
	if y == 0 {
		r.fail("division by zero")
	}
	if operator == "/" {
		return x / y
	}
	quotient, remainder := floorDivision(x, y)
	if operator == "//" {
		return quotient
	}
	return remainder
}

// floorDivision is CPython's float_divmod.
func floorDivision(x, y float64) (quotient, remainder float64) {
	remainder = math.Mod(x, y)
	quotient = (x - remainder) / y
	if remainder == 0 {
		remainder = math.Copysign(0, y)
	} else if (y < 0) != (remainder < 0) {
		remainder += y
		quotient--
	}
	if quotient == 0 {
		return math.Copysign(0, x/y), remainder
	}
	floor := math.Floor(quotient)
	if quotient-floor > 0.5 {
		floor++
	}
	return floor, remainder
}

func (r *render) floatPower(x, y float64) any {
	if x == 0 && y < 0 {
		r.fail("zero cannot be raised to a negative power")
	}
	if x < 0 && y != math.Trunc(y) && !math.IsInf(x, 0) && !math.IsInf(y, 0) && !math.IsNaN(y) {
		r.fail("a root of a negative number is not a number")
	}
	result := math.Pow(x, y)
	if math.IsInf(result, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		r.fail("the result of ** is too large")
	}
	return result
}

func (r *render) signed(sign string, v any) any {
	if i := asWide(v); i != nil {
		if sign == "-" {
			i.Neg(i)
		}
		return r.whole(i)
	}
	f, ok := r.real(v)
	if !ok {
		r.fail("a %s has no sign", typeName(v))
	}
	if sign == "-" {
		return -f
	}
	return f
}
