package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A typeSet is a set of JSON types.
type typeSet int

const (
	nullType typeSet = 1 << iota
	booleanType
	numberType
	integerType
	stringType
	arrayType
	objectType
)

var typeNames = map[string]typeSet{
	"null": nullType, "boolean": booleanType, "number": numberType, "integer": integerType, "string": stringType,
	"array": arrayType, "object": objectType,
}

// typeList returns the names of the types in a set, in a fixed order.
func typeList(set typeSet) []string {
	var names []string
	for _, name := range []string{"null", "boolean", "number", "integer", "string", "array", "object"} {
		if set&typeNames[name] != 0 {
			names = append(names, name)
		}
	}
	return names
}

// typeOf returns the type of a plain value, or 0 for any other value.
func typeOf(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return nullType
	case bool:
		return booleanType
	case int:
		return numberType
	case float64, json.Number:
		if _, ok := written(v); ok {
			return numberType
		}
	case string:
		return stringType
	case []any:
		return arrayType
	case map[string]any:
		return objectType
	}
	return 0
}

func typeName(v any) string {
	if names := typeList(typeOf(v)); len(names) > 0 {
		return names[0]
	}
	return fmt.Sprintf("%T", v)
}

// isInteger reports whether a number has no fraction, in any spelling.
func isInteger(v any) bool {
	if _, ok := v.(int); ok {
		return true
	}
	text, ok := written(v)
	d := decimalOf(text)
	return ok && d.point >= len(d.digits)
}

// equal reports whether two plain values are the same JSON. It compares numbers
// by the decimal numbers that they are written as.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !equal(value, other) {
				return false
			}
		}
		return true
	case nil, bool, string:
		switch b.(type) {
		case []any, map[string]any:
			return false
		}
		return a == b
	}
	order, numbers := Compare(a, b)
	return numbers && order == 0
}

// canonical returns a text that is the same for two values exactly if JSON
// Schema treats them as equal.
func canonical(v any) string { return string(appendCanonical(nil, v)) }

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return append(append(strconv.AppendInt(append(b, '"'), int64(len(v)), 10), '"'), v...)
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = append(appendCanonical(b, item), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b = append(appendCanonical(appendCanonical(b, key), v[key]), ',')
		}
		return append(b, '}')
	}
	digits, _ := Digits(v)
	return append(append(b, '#'), digits...)
}

// byteSize returns the approximate size of v in bytes. It stops counting at
// limit.
func byteSize(v any, limit int) int {
	total := 8
	switch v := v.(type) {
	case string:
		total += len(v)
	case json.Number:
		total += len(v)
	case []any:
		for i := 0; i < len(v) && total < limit; i++ {
			total += byteSize(v[i], limit-total)
		}
	case map[string]any:
		for key, value := range v {
			if total += len(key); total >= limit {
				break
			}
			total += byteSize(value, limit-total)
		}
	}
	return total
}

// A constant is the value of the keyword const.
type constant struct {
	value     any
	canonical string
}

// An enum holds the values of the keyword enum.
type enum struct {
	values []any
	types  typeSet
	known  map[string]bool // by canonical text
	texts  map[string]bool // the values that are strings
}

func newEnum(values []any) *enum {
	e := &enum{values: values, known: map[string]bool{}, texts: map[string]bool{}}
	for _, v := range values {
		e.types |= typeOf(v)
		if text, ok := v.(string); ok {
			e.texts[text] = true
		} else {
			e.known[canonical(v)] = true
		}
	}
	return e
}
