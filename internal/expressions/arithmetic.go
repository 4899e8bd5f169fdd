package expressions

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/schema"
)

var (
	errNotFinite = errors.New("not a finite number")
	errZero      = errors.New("division by zero")
)

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// checked returns a computed float. One that is not finite is an error.
func checked(f float64) (any, error) {
	if !finite(f) {
		return nil, fmt.Errorf("the result is %w", errNotFinite)
	}
	return f, nil
}

// number returns a value as an int or a float64 if it is a number that JSON writes
// differently, and any other value as it is. The digits must fit.
func number(v any) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		if f, float := v.(float64); float && !finite(f) {
			return nil, errNotFinite
		}
		return v, nil
	}
	if isWhole(n) {
		i, fits := schema.Whole(n)
		if !fits {
			return nil, tooLarge(n)
		}
		return i, nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, tooLarge(n)
	}
	if order, ok := schema.Compare(f, n); !ok || order != 0 {
		return nil, tooLong(n)
	}
	return f, nil
}

// isWhole reports whether a number is written as an integer.
func isWhole(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

func tooLarge(v any) error {
	return fmt.Errorf("the number %s is too large to compute with: it can be compared", clips.Bytes(fmt.Sprint(v), 40))
}

func tooLong(v any) error {
	return fmt.Errorf("the number %s has more digits than a float: it can be compared", clips.Bytes(fmt.Sprint(v), 40))
}

// float returns an int or a float64 as a float64. ok is false for other values; an
// int whose digits are not those of the float is an error.
func float(v any) (f float64, ok bool, err error) {
	switch v := v.(type) {
	case float64:
		return v, true, nil
	case int:
		f = float64(v)
		if order, _ := schema.Compare(f, v); order != 0 {
			err = tooLong(v)
		}
		return f, true, err
	}
	return 0, false, nil
}

// compute applies the operator in its first argument to the second and third.
func compute(_ meter, args []any) (any, error) {
	return calculated(args[0].(string), args[1], args[2])
}

// calculated applies an arithmetic operator. A result that is not finite is an
// error. An integer that loses a digit is also an error.
func calculated(operator string, left, right any) (any, error) {
	a, err := number(left)
	if err != nil {
		return nil, err
	}
	b, err := number(right)
	if err != nil {
		return nil, err
	}
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok && (operator != "/" && (!power(operator) || y >= 0)) {
			return integer(operator, x, y)
		}
	}
	f, isNumber, err := float(a)
	g, both, other := float(b)
	if !isNumber || !both || operator == "%" {
		return libraries(operator, a, b)
	}
	if err = errors.Join(err, other); err != nil {
		return nil, err
	}
	switch operator {
	case "+":
		return checked(f + g)
	case "-":
		return checked(f - g)
	case "*":
		return checked(f * g)
	case "/":
		if g == 0 {
			return nil, errZero
		}
		return checked(f / g)
	}
	return checked(math.Pow(f, g))
}

func power(operator string) bool { return operator == "**" || operator == "^" }

// libraries applies the library's operator to operands that are not both numbers. It joins texts,
// and panics on other operands.
func libraries(operator string, a, b any) (any, error) {
	switch operator {
	case "+":
		return runtime.Add(a, b), nil
	case "-":
		return runtime.Subtract(a, b), nil
	case "*":
		return runtime.Multiply(a, b), nil
	case "/":
		return runtime.Divide(a, b), nil
	case "%":
		return runtime.Modulo(a, b), nil
	}
	return runtime.Exponent(a, b), nil
}

// integer applies an operator to two integers. The result has every digit.
func integer(operator string, x, y int) (any, error) {
	switch {
	case operator == "%" && y == 0:
		return nil, errZero
	case operator == "%":
		return x % y, nil
	case power(operator):
		return raised(x, y)
	case short(operator, x) && short(operator, y):
		switch operator {
		case "+":
			return x + y, nil
		case "-":
			return x - y, nil
		}
		return x * y, nil
	}
	apply := map[string]func(to, x, y *big.Int) *big.Int{"+": (*big.Int).Add, "-": (*big.Int).Sub, "*": (*big.Int).Mul}[operator]
	return fitted(apply(new(big.Int), big.NewInt(int64(x)), big.NewInt(int64(y))))
}

// short reports whether an operator cannot wrap around with a number of this size.
func short(operator string, n int) bool {
	bits := 62
	if operator == "*" {
		bits = 31
	}
	return n>>bits == n>>63
}

func fitted(n *big.Int) (any, error) {
	if !n.IsInt64() {
		return nil, tooLarge(n)
	}
	return int(n.Int64()), nil
}

// raised returns x to the power of y, which must not be negative. The result is an int if it
// fits, or else a float with the same digits.
func raised(x, y int) (any, error) {
	base := big.NewInt(int64(x))
	if bits := base.BitLen() - 1; bits > 0 && y > 1024/bits { // larger than any float64
		return nil, fmt.Errorf("%d ** %d is too large", x, y)
	}
	if base.BitLen() <= 1 { // -1, 0 and 1: a large exponent takes no time
		y = min(y, 2+y%2)
	}
	n := base.Exp(base, big.NewInt(int64(y)), nil)
	if n.IsInt64() {
		return int(n.Int64()), nil
	}
	return number(json.Number(n.String() + ".0"))
}

// lone is [number] as a function of expressions.
func lone(_ meter, args []any) (any, error) { return number(args[0]) }

// maxPosition limits an index and an end of a range, because the library
// subtracts them.
const maxPosition = 1 << 61

// whole returns a number as an int, to count by. Other values stay unchanged, because the key of
// a map is not a number.
func whole(_ meter, args []any) (any, error) {
	switch v := args[0].(type) {
	case int, float64, json.Number:
		if i, ok := schema.Whole(v); ok && -maxPosition <= i && i <= maxPosition {
			return i, nil
		}
		return nil, fmt.Errorf("an index, an end of a range and a count must be whole numbers of at most 61 bits, not %v", v)
	}
	return args[0], nil
}
