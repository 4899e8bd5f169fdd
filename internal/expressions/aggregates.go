package expressions

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/builtin"

	"github.com/seed61713e19/capstan/internal/schema"
)

// ofNumbers replaces the library's functions that compute with numbers. The type check uses the
// library's functions.
var ofNumbers = map[string]func(meter, []any) (any, error){
	"abs": absolute, "ceil": rounding("ceil", math.Ceil), "floor": rounding("floor", math.Floor), "round": rounding("round", math.Round),
	"int": toInt, "float": toFloat, "type": typeOf,
	"min": extreme("min", -1), "max": extreme("max", 1), "mean": mean, "median": median,
}

func absolute(_ meter, args []any) (any, error) {
	n, err := number(args[0])
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case int:
		if n < 0 {
			return calculated("-", 0, n)
		}
		return n, nil
	case float64:
		return math.Abs(n), nil
	}
	return nil, fmt.Errorf("abs takes a number, not %s", kindOf(n))
}

// rounding implements ceil, floor and round. Integers stay unchanged.
func rounding(name string, round func(float64) float64) func(meter, []any) (any, error) {
	return func(_ meter, args []any) (any, error) {
		n, err := number(args[0])
		if err != nil {
			return nil, err
		}
		switch n := n.(type) {
		case int:
			return n, nil
		case float64:
			return round(n), nil
		}
		return nil, fmt.Errorf("%s takes a number, not %s", name, kindOf(n))
	}
}

// toInt returns a number without its fraction.
func toInt(_ meter, args []any) (any, error) {
	if text, ok := args[0].(string); ok {
		i, err := strconv.Atoi(text)
		if errors.Is(err, strconv.ErrRange) {
			return nil, tooLarge(text)
		}
		if err != nil {
			return nil, fmt.Errorf("int takes a text of digits, not %s", inQuotes(text))
		}
		return i, nil
	}
	if i, ok := schema.Whole(args[0]); ok {
		return i, nil
	}
	n, err := number(args[0])
	if err != nil {
		return nil, err
	}
	f, ok := n.(float64)
	if !ok {
		return nil, fmt.Errorf("int takes a number or a text, not %s", kindOf(n))
	}
	if math.Abs(f) >= 1<<53 { // the number is whole and has more than 64 bits
		return nil, tooLarge(f)
	}
	return int(f), nil
}

func toFloat(_ meter, args []any) (any, error) {
	v := args[0]
	if text, ok := v.(string); ok {
		v = json.Number(decimal(text))
		if _, ok := schema.Compare(v, 0); !ok {
			return nil, fmt.Errorf("float takes a text that is a decimal number, not %s", inQuotes(text))
		}
	}
	n, err := number(v)
	if err != nil {
		return nil, err
	}
	f, ok, err := float(n)
	if !ok {
		return nil, fmt.Errorf("float takes a number or a text, not %s", kindOf(n))
	}
	return f, err
}

// decimal writes a number as JSON does: without a plus, with one digit before the
// point and no zeros before that.
func decimal(text string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	whole := len(text) - len(strings.TrimLeft(text, "0123456789"))
	digits, rest := strings.TrimLeft(text[:whole], "0"), text[whole:]
	if digits == "" && (whole > 0 || strings.HasPrefix(rest, ".")) {
		digits = "0"
	}
	if whole > 0 && (rest == "." || strings.HasPrefix(rest, ".e") || strings.HasPrefix(rest, ".E")) {
		rest = rest[1:]
	}
	return sign + digits + rest
}

// typeOf returns the library's name for the type of a value, also for exact numbers.
func typeOf(_ meter, args []any) (any, error) {
	if n, ok := args[0].(json.Number); ok {
		if isWhole(n) {
			return "int", nil
		}
		return "float", nil
	}
	return builtin.Type(args[0]), nil
}

// flat appends the numbers in the arguments, which are numbers or lists.
func flat(name string, into []any, args ...any) ([]any, error) {
	for _, v := range args {
		var err error
		if _, ok := ordered(v, 0); ok {
			into = append(into, v)
		} else if list, ok := v.([]any); ok {
			into, err = flat(name, into, list...)
		} else if r := reflect.ValueOf(v); r.Kind() == reflect.Slice || r.Kind() == reflect.Array {
			for i := 0; i < r.Len() && err == nil; i++ {
				into, err = flat(name, into, r.Index(i).Interface())
			}
		} else {
			err = fmt.Errorf("%s takes numbers, not %s", name, kindOf(v))
		}
		if err != nil {
			return nil, err
		}
	}
	return into, nil
}

// extreme implements min and max, by all digits. Without numbers, it returns nil.
func extreme(name string, sign int) func(meter, []any) (any, error) {
	return func(_ meter, args []any) (any, error) {
		list, err := flat(name, nil, args...)
		if err != nil {
			return nil, err
		}
		var best any
		for _, v := range list {
			if order, _ := ordered(v, best); best == nil || order == sign {
				best = v
			}
		}
		return best, nil
	}
}

func mean(m meter, args []any) (any, error) {
	list, err := flat("mean", nil, args...)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("an empty list has no mean")
	}
	total, err := sum(m, []any{list})
	if err != nil {
		return nil, err
	}
	return calculated("/", total, len(list))
}

func median(_ meter, args []any) (any, error) {
	list, err := flat("median", nil, args...)
	if err != nil {
		return nil, err
	}
	n := len(list)
	if n == 0 {
		return nil, errors.New("an empty list has no median")
	}
	slices.SortStableFunc(list, func(a, b any) int {
		order, _ := ordered(a, b)
		return order
	})
	if n%2 == 1 {
		return list[n/2], nil
	}
	total, err := calculated("+", list[n/2-1], list[n/2])
	if err != nil {
		return nil, err
	}
	return calculated("/", total, 2)
}

// sum adds up a list with the rules of +.
func sum(m meter, args []any) (any, error) {
	items, err := list(m, args[0])
	if err != nil {
		return nil, err
	}
	var total any = 0
	for i := range items.Len() {
		if total, err = calculated("+", total, items.Index(i).Interface()); err != nil {
			return nil, err
		}
	}
	return total, nil
}
