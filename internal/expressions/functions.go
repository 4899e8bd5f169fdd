package expressions

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"

	"github.com/seed61713e19/capstan/internal/schema"
)

// A function replaces one of the library's functions. The reason is a result
// far larger than its arguments, the order of a map, exponential type checks
// because of overloads, or lengths in bytes.
type function struct {
	args     []reflect.Kind // the kind of each argument; Interface means any
	optional int            // how many of the last arguments are optional
	result   any            // a value of the result's type; nil means any
	call     func(m meter, args []any) (any, error)
}

var functions = map[string]function{
	"trim":        {[]reflect.Kind{reflect.String, reflect.String}, 1, "", trim},
	"split":       {[]reflect.Kind{reflect.String, reflect.String, reflect.Int}, 1, []string{}, split},
	"join":        {[]reflect.Kind{reflect.Slice, reflect.String}, 1, "", join},
	"replace":     {[]reflect.Kind{reflect.String, reflect.String, reflect.String, reflect.Int}, 1, "", replace},
	"indexOf":     {[]reflect.Kind{reflect.String, reflect.String}, 0, 0, indexOf},
	"lastIndexOf": {[]reflect.Kind{reflect.String, reflect.String}, 0, 0, lastIndexOf},
	"uniq":        {[]reflect.Kind{reflect.Slice}, 0, []any{}, uniq},
	"keys":        {[]reflect.Kind{reflect.Map}, 0, []any{}, keys},
	"values":      {[]reflect.Kind{reflect.Map}, 0, []any{}, values},
	"toJSON":      {[]reflect.Kind{reflect.Interface}, 0, "", toJSON},
	"fromJSON":    {[]reflect.Kind{reflect.String}, 0, nil, fromJSON},
}

// inner contains the functions that only the rewritten tree can call.
var inner = map[string]func(meter, []any) (any, error){
	"tick": tick, "charge": charge, "skim": skim, "probe": probe, "matches": matches,
	"compare": compare, "compute": compute, "lone": lone, "sum": sum, "position": whole,
	"reversed": reversed, "mirrored": mirrored,
}

// functionTable registers each function twice: as the author writes it, for
// its types; and with the meter as first argument, to be run.
func functionTable() conf.FunctionsTable {
	table := conf.FunctionsTable{}
	add := func(name string, call func(meter, []any) (any, error)) {
		table[" "+name] = &builtin.Function{Name: " " + name, Func: func(args ...any) (any, error) {
			return call(args[0].(meter), args[1:])
		}}
	}
	for name, call := range inner {
		add(name, call)
	}
	for name, call := range ofNumbers {
		add(name, call)
	}
	table[" slice"] = &builtin.Function{Name: " slice", Func: slice}
	table[" at"] = &builtin.Function{Name: " at", Func: element}
	for name, f := range functions {
		add(name, f.call)
		table[name] = &builtin.Function{Name: name, Validate: f.validate(name)}
	}
	return table
}

func (f function) validate(name string) func([]reflect.Type) (reflect.Type, error) {
	return func(args []reflect.Type) (reflect.Type, error) {
		if len(args) > len(f.args) || len(args) < len(f.args)-f.optional {
			return nil, fmt.Errorf("%s takes %s, not %d", name, f.count(), len(args))
		}
		for i, arg := range args {
			if arg == nil || !fits(arg.Kind(), f.args[i]) {
				return nil, fmt.Errorf("argument %d of %s must be a %s, not %v", i+1, name, kindNames[f.args[i]], arg)
			}
		}
		if f.result == nil {
			return reflect.TypeFor[any](), nil
		}
		return reflect.TypeOf(f.result), nil
	}
}

func fits(got, want reflect.Kind) bool {
	return got == want || got == reflect.Interface || want == reflect.Interface
}

func (f function) count() string {
	if f.optional > 0 {
		return fmt.Sprintf("%d to %d arguments", len(f.args)-f.optional, len(f.args))
	}
	return fmt.Sprintf("%d arguments", len(f.args))
}

var kindNames = map[reflect.Kind]string{
	reflect.String: "string", reflect.Slice: "list", reflect.Map: "map", reflect.Int: "whole number", reflect.Interface: "value",
}

// kindOf returns the kind of a value, in an author's words.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case json.Number:
		return "a number"
	}
	switch k := reflect.TypeOf(v).Kind(); k {
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "a boolean"
	default:
		if name, ok := kindNames[k]; ok {
			return "a " + name
		}
		return "a " + k.String()
	}
}

// arg returns the i-th argument as a T, or the zero T if it is missing.
func arg[T any](args []any, i int) (T, error) {
	var zero T
	if i >= len(args) {
		return zero, nil
	}
	v, ok := args[i].(T)
	if !ok {
		return zero, fmt.Errorf("argument %d must be %s, not %s", i+1, kindOf(zero), kindOf(args[i]))
	}
	return v, nil
}

// texts reads n string arguments.
func texts(args []any, n int) ([]string, error) {
	out := make([]string, n)
	for i := range out {
		text, err := arg[string](args, i)
		if err != nil {
			return nil, err
		}
		out[i] = text
	}
	return out, nil
}

// list returns the first argument as a list and pays for it.
func list(m meter, first any) (reflect.Value, error) {
	v := reflect.ValueOf(first)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return v, fmt.Errorf("argument 1 must be a list, not %s", kindOf(first))
	}
	return v, m.weigh(first, int(each))
}

func trim(m meter, args []any) (any, error) {
	t, err := texts(args, 2)
	if err != nil {
		return nil, err
	}
	if len(args) < 2 {
		return strings.TrimSpace(t[0]), m.spend(len(t[0]) / int(read))
	}
	if len(t[1]) > 256 {
		return nil, fmt.Errorf("trim takes at most 256 bytes of characters")
	}
	return strings.Trim(t[0], t[1]), m.spend(len(t[0]))
}

func split(m meter, args []any) (any, error) {
	t, err := texts(args, 2)
	if err != nil {
		return nil, err
	}
	n := -1
	if len(args) > 2 {
		if n, err = arg[int](args, 2); err != nil {
			return nil, err
		}
	}
	if err := m.spend(1 + len(t[0])/int(read)); err != nil {
		return nil, err
	}
	if pieces := strings.Count(t[0], t[1]) + 1; m.spend(4*pieces) != nil {
		return nil, errBudget
	}
	return strings.SplitN(t[0], t[1], n), nil
}

func join(m meter, args []any) (any, error) {
	items, err := list(m, args[0])
	if err != nil {
		return nil, err
	}
	glue, err := arg[string](args, 1)
	if err != nil {
		return nil, err
	}
	words := make([]string, items.Len())
	size := len(glue) * len(words)
	for i := range words {
		word, ok := items.Index(i).Interface().(string)
		if !ok {
			return nil, fmt.Errorf("join takes strings, not %s", kindOf(items.Index(i).Interface()))
		}
		words[i] = word
		size += len(word)
	}
	if err := m.spend(size / int(build)); err != nil {
		return nil, err
	}
	return strings.Join(words, glue), nil
}

func replace(m meter, args []any) (any, error) {
	t, err := texts(args, 3)
	if err != nil {
		return nil, err
	}
	n := -1
	if len(args) > 3 {
		if n, err = arg[int](args, 3); err != nil {
			return nil, err
		}
	}
	if err := m.spend(1 + len(t[0])/int(read)); err != nil {
		return nil, err
	}
	times := strings.Count(t[0], t[1])
	if n >= 0 {
		times = min(times, n)
	}
	if err := m.spend((len(t[0]) + times*len(t[2])) / int(build)); err != nil {
		return nil, err
	}
	return strings.Replace(t[0], t[1], t[2], n), nil
}

// uniq removes duplicate numbers, strings, booleans and nils.
func uniq(m meter, args []any) (any, error) {
	items, err := list(m, args[0])
	if err != nil {
		return nil, err
	}
	seen := make(map[any]bool, items.Len())
	out := make([]any, 0, items.Len())
	for i := range items.Len() {
		v := items.Index(i).Interface()
		key := v
		switch v.(type) {
		case int, float64, json.Number:
			type spelling string
			if digits, ok := schema.Digits(v); ok {
				key = spelling(digits)
			}
		case nil, bool, string:
		default:
			return nil, fmt.Errorf("uniq takes numbers, strings and booleans, not %s", kindOf(v))
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out, nil
}

// keys returns a map's keys, sorted.
func keys(m meter, args []any) (any, error) {
	names, _, err := sortedKeys(m, args[0])
	if err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out, nil
}

// values returns a map's values in the order of its keys.
func values(m meter, args []any) (any, error) {
	names, of, err := sortedKeys(m, args[0])
	if err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = of[name]
	}
	return out, nil
}

func sortedKeys(m meter, v any) ([]string, map[string]any, error) {
	of, ok := v.(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("want a map, not %s", kindOf(v))
	}
	if err := m.spend(1 + 4*len(of)); err != nil {
		return nil, nil, err
	}
	return slices.Sorted(maps.Keys(of)), of, nil
}

// toJSON writes a value as compact JSON with sorted keys.
func toJSON(m meter, args []any) (any, error) {
	if err := m.weigh(args[0], int(build)); err != nil {
		return nil, err
	}
	text, err := schema.Encode(args[0])
	return string(text), err
}

// fromJSON parses JSON like the variable output: whole numbers are integers.
// Its result can be thirty times as large as the text.
func fromJSON(m meter, args []any) (any, error) {
	text, err := arg[string](args, 0)
	if err != nil {
		return nil, err
	}
	if err := m.spend(4 * len(text)); err != nil {
		return nil, err
	}
	return schema.Parse([]byte(text))
}
