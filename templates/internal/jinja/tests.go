package jinja

import (
	"encoding/json"
	"unicode"
)

// testAliases are Jinja2's other names of tests.
var testAliases = map[string]string{
	"==": "eq", "equalto": "eq", "!=": "ne", ">": "gt", "greaterthan": "gt", ">=": "ge",
	"<": "lt", "lessthan": "lt", "<=": "le",
}

// asks returns a test without arguments.
func asks(name string, holds func(r *render, v any) bool) *function {
	return define(name, "", func(r *render, v any, _ []any) any { return holds(r, v) })
}

// compares is a test against one value.
func compares(name, operator string) *function {
	return define(name, "value", func(r *render, v any, a []any) any { return r.compare(operator, v, a[0]) })
}

func tests() []*function {
	list := []*function{
		asks("none", func(_ *render, v any) bool { return v == nil }),
		asks("boolean", func(_ *render, v any) bool { _, ok := v.(bool); return ok }),
		asks("true", func(_ *render, v any) bool { return v == true }),
		asks("false", func(_ *render, v any) bool { return v == false }),
		asks("string", func(_ *render, v any) bool { _, ok := text(v); return ok }),
		asks("escaped", func(_ *render, v any) bool { _, ok := v.(markup); return ok }),
		asks("mapping", func(_ *render, v any) bool { return isMapping(v) }),
		asks("integer", func(_ *render, v any) bool { return typeName(v) == "int" }),
		asks("float", func(_ *render, v any) bool { return typeName(v) == "float" }),
		asks("number", isNumber),
		asks("sequence", isSequence),
		asks("iterable", isIterable),
		asks("callable", isCallable),
		asks("odd", func(r *render, v any) bool { return r.equal(r.arithmetic("%", r.defined(v), int64(2)), int64(1), 0) }),
		asks("even", func(r *render, v any) bool { return r.equal(r.arithmetic("%", r.defined(v), int64(2)), int64(0), 0) }),
		define("divisibleby", "num", func(r *render, v any, a []any) any {
			return r.equal(r.arithmetic("%", r.defined(v), r.defined(a[0])), int64(0), 0)
		}),
		asks("upper", func(r *render, v any) bool { return allCased(r.str(v), unicode.IsUpper, unicode.IsLower) }),
		asks("lower", func(r *render, v any) bool { return allCased(r.str(v), unicode.IsLower, unicode.IsUpper) }),
		asks("filter", func(r *render, v any) bool { return r.program.library.filters[r.nameOf(v)] != nil }),
		asks("test", func(r *render, v any) bool { return r.program.library.tests[r.nameOf(v)] != nil }),
		define("sameas", "other", sameAs),
		compares("eq", "=="), compares("ne", "!="), compares("gt", ">"), compares("ge", ">="),
		compares("lt", "<"), compares("le", "<="),
		define("in", "seq", func(r *render, v any, a []any) any { return r.compare("in", v, a[0]) }),
	}
	for _, name := range []string{"defined", "undefined"} {
		f := asks(name, func(_ *render, v any) bool { return isUndefined(v) == (name == "undefined") })
		f.toleratesUndefined = true
		list = append(list, f)
	}
	return list
}

func isNumber(_ *render, v any) bool {
	switch v.(type) {
	case int64, float64, bool, json.Number, written:
		return true
	}
	return false
}

func isSequence(_ *render, v any) bool {
	switch v.(type) {
	case string, markup, []any, *tuple, map[string]any, *dict, interval:
		return true
	}
	return false
}

func isIterable(r *render, v any) bool {
	switch v := v.(type) {
	case *view, *iterator, *loop:
		return true
	case *undefined:
		r.strictlyDefined(v)
		return true
	}
	return isSequence(r, v)
}

func isCallable(r *render, v any) bool {
	switch v := v.(type) {
	case *macro, *function, *bound, *joiner, *loop:
		return true
	case *undefined:
		// In Jinja2, an undefined value is callable.
		r.defined(v)
	}
	return false
}

// nameOf returns the name that a test looks up. A value that cannot be a name
// has no entry.
func (r *render) nameOf(v any) string {
	r.hash(v)
	s, _ := text(v)
	return s
}

// sameAs compares identities. Only None, True and False have a reliable
// identity.
func sameAs(r *render, v any, a []any) any {
	for _, side := range []any{v, a[0]} {
		switch side.(type) {
		case nil, bool:
			return v == nil && a[0] == nil || typeName(v) == "bool" && typeName(a[0]) == "bool" && v == a[0]
		}
	}
	r.fail("sameas is supported for none, true and false: use ==")
	return nil
}
