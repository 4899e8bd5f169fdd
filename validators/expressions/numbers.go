package expressions

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/seed61713e19/capstan/validators/schema"
)

// The library knows int and float64, and turns one into the other where they
// meet: digits are lost beyond 2^53, and integers wrap around beyond 2^63. So
// where an operand may be such a number, the operator is one of these: what
// compares takes every digit, and what computes fails where it had to lose one.

// comparing and computing are the operators that numbers go through.
var (
	comparing = map[string]bool{"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true, "in": true}
	computing = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "**": true, "^": true}
)

// takesNumbers are functions of the library that need their numbers converted,
// alone or in lists.
var takesNumbers = map[string]string{
	"abs": "lone", "ceil": "lone", "floor": "lone", "round": "lone", "int": "lone", "float": "lone",
	"type": "lone", "len": "lone", "min": "numbers", "max": "numbers", "mean": "numbers", "median": "numbers",
}

// numeric puts an operator in the place of one that numbers may meet in.
func numeric(node *ast.Node, n *ast.BinaryNode) {
	what := ""
	switch {
	case comparing[n.Operator] && (n.Operator == "in" || mayHold(n.Left) && mayHold(n.Right)):
		what = "compare"
	case computing[n.Operator] && mayHold(n.Left) && mayHold(n.Right):
		what = "compute"
	default:
		return
	}
	*node = operation(what, n.Operator, n.Location(), n.Left, n.Right)
}

func operation(what, operator string, at file.Location, operands ...ast.Node) ast.Node {
	name := &ast.StringNode{Value: operator}
	name.SetLocation(at)
	return metered(what, at, append([]ast.Node{name}, operands...)...)
}

// mayHold tells whether what a node gives may be a number or have one in it.
func mayHold(node ast.Node) bool {
	if _, ok := node.(*ast.NilNode); ok {
		return false
	}
	switch node.Type().Kind() {
	case reflect.Interface, reflect.Int, reflect.Float64, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

// compare is one of comparing.
func compare(_ meter, args []any) (any, error) {
	a, b := args[1], args[2]
	switch args[0].(string) {
	case "==":
		return same(a, b), nil
	case "!=":
		return !same(a, b), nil
	case "in":
		return within(a, b), nil
	}
	order, ok := schema.Compare(a, b)
	switch args[0].(string) {
	case "<":
		return ok && order < 0 || !ok && runtime.Less(a, b), nil
	case "<=":
		return ok && order <= 0 || !ok && runtime.LessOrEqual(a, b), nil
	case ">":
		return ok && order > 0 || !ok && runtime.More(a, b), nil
	}
	return ok && order >= 0 || !ok && runtime.MoreOrEqual(a, b), nil
}

// same is equality, of numbers by their digits, at any depth. How deep that may
// be was seen when the operands were paid for.
func same(a, b any) bool {
	if order, ok := schema.Compare(a, b); ok {
		return order == 0
	}
	switch x := a.(type) {
	case []any:
		if y, ok := b.([]any); ok {
			for i := range x {
				if len(x) != len(y) || !same(x[i], y[i]) {
					return false
				}
			}
			return len(x) == len(y)
		}
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			for key := range x {
				if other, has := y[key]; !has || len(x) != len(y) || !same(x[key], other) {
					return false
				}
			}
			return len(x) == len(y)
		}
	}
	return runtime.Equal(a, b)
}

// within is the operator in.
func within(item, list any) bool {
	items, ok := list.([]any)
	if !ok {
		if n, err := number(item); err == nil {
			item = n
		}
		return runtime.In(item, list)
	}
	return slices.ContainsFunc(items, func(other any) bool { return same(item, other) })
}

// number is a value as one that the library computes with.
func number(v any) (any, error) {
	n, ok := v.(json.Number)
	if !ok {
		return v, nil
	}
	whole := !strings.ContainsAny(string(n), ".eE")
	if i, fits := schema.Whole(n); whole && fits {
		return i, nil
	}
	f, err := n.Float64()
	if whole || err != nil {
		return nil, tooLarge(n)
	}
	return f, nil
}

func tooLarge(v any) error {
	text := fmt.Sprint(v)
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Errorf("the number %s is too large to compute with: it can be compared", text)
}

// compute is one of computing. Integers that would wrap around are an error.
func compute(_ meter, args []any) (any, error) {
	a, err := number(args[1])
	if err != nil {
		return nil, err
	}
	b, err := number(args[2])
	if err != nil {
		return nil, err
	}
	x, whole := a.(int)
	y, both := b.(int)
	operator := args[0].(string)
	if exact := exactly[operator]; exact != nil && whole && both && !(short(operator, x) && short(operator, y)) {
		n := exact(new(big.Int), big.NewInt(int64(x)), big.NewInt(int64(y)))
		if !n.IsInt64() {
			return nil, tooLarge(n)
		}
		return int(n.Int64()), nil
	}
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

// short tells whether a number is one of those with which an operator does not wrap around.
func short(operator string, n int) bool {
	bits := 62
	if operator == "*" {
		bits = 31
	}
	return n>>bits == n>>63
}

// exactly are those of computing that may not lose a digit of integers.
var exactly = map[string]func(to, x, y *big.Int) *big.Int{"+": (*big.Int).Add, "-": (*big.Int).Sub, "*": (*big.Int).Mul}

// lone is number as a function.
func lone(_ meter, args []any) (any, error) { return number(args[0]) }

// numbers makes the numbers in a value ones that the library computes with. An
// integer that a float has no room for does not go with floats.
func numbers(m meter, args []any) (any, error) {
	if err := m.weigh(args[0], int(build)); err != nil {
		return nil, err
	}
	var large, floats bool
	made, err := numbersIn(args[0], &large, &floats)
	if err == nil && large && floats {
		err = fmt.Errorf("an integer beyond 2^53 and a float do not go together here: they can be compared")
	}
	return made, err
}

func numbersIn(v any, large, floats *bool) (any, error) {
	list, ok := v.([]any)
	if !ok {
		made, err := number(v)
		switch n := made.(type) {
		case int:
			*large = *large || n > 1<<53 || n < -1<<53
		case float64:
			*floats = *floats || !math.IsNaN(n)
		}
		return made, err
	}
	out := make([]any, len(list))
	for i := range list {
		var err error
		if out[i], err = numbersIn(list[i], large, floats); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sum adds up a list as + does.
func sum(m meter, args []any) (any, error) {
	items, err := list(m, args[0])
	if err != nil {
		return nil, err
	}
	var total any = 0
	for i := range items.Len() {
		if total, err = compute(m, []any{"+", total, items.Index(i).Interface()}); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// reversed is a list from its end.
func reversed(m meter, args []any) (any, error) {
	items, err := list(m, args[0])
	if err != nil {
		return nil, err
	}
	out := make([]any, items.Len())
	for i := range out {
		out[len(out)-1-i] = items.Index(i).Interface()
	}
	return out, nil
}

// mirrored is the place in a list of what was found in it reversed.
func mirrored(_ meter, args []any) (any, error) {
	if i, ok := args[1].(int); ok {
		return reflect.ValueOf(args[0]).Len() - 1 - i, nil
	}
	return nil, nil
}

// written tells whether a literal is the number that the library reads it as.
func written(f float64, literal string) bool {
	order, ok := schema.Compare(f, json.Number(strings.ReplaceAll(literal, "_", "")))
	return !ok || order == 0
}
