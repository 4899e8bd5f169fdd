package expressions

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/seed61713e19/capstan/internal/schema"
)

// The library has int and float64 and converts between them. Digits are lost
// beyond 2^53, integers overflow beyond 2^63, and floats become infinite. This
// package therefore replaces operators and functions on numbers. Comparisons
// use every digit. A calculation that is not finite, or whose integers lose
// digits, is an error (arithmetic.go).

// comparing and computing contain the replaced operators.
var (
	comparing = map[string]bool{"==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true, "in": true}
	computing = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true, "**": true, "^": true}
)

// numeric replaces an operator that may have numbers as operands.
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

// mayHold reports whether the value of a node may be a number or contain a
// number.
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

// compare implements the comparison operators.
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
	order, ok := ordered(a, b)
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

// ordered compares two numbers by their digits; ok is false if a or b is not a number. It panics
// on a float that is not finite, like the library on operands of a wrong type.
func ordered(a, b any) (order int, ok bool) {
	if order, ok = schema.Compare(a, b); ok {
		return order, true
	}
	for _, v := range []any{a, b} {
		if f, float := v.(float64); float && !finite(f) {
			panic(errNotFinite)
		}
	}
	return 0, false
}

// same reports whether two values are equal, numbers by their digits, at any depth.
// The depth was checked when the operands were paid for.
func same(a, b any) bool {
	if order, ok := ordered(a, b); ok {
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

// within implements the operator "in".
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

// reversed returns a list in reverse order.
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

// mirrored converts an index in the reversed list to an index in the list.
func mirrored(_ meter, args []any) (any, error) {
	if i, ok := args[1].(int); ok {
		return reflect.ValueOf(args[0]).Len() - 1 - i, nil
	}
	return nil, nil
}

// written reports whether the library's float has all digits of a literal.
func written(f float64, literal string) bool {
	order, ok := schema.Compare(f, json.Number(strings.ReplaceAll(literal, "_", "")))
	return !ok || order == 0
}
