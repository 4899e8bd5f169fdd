package jinja

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The evaluator's values are nil, bool, int64, float64, string, []any, the
// caller's maps, written and the types below. json.Number is an integer beyond
// 64 bits. Each type stands for a type of Python or Jinja2.
type (
	// undefined is a variable or attribute that is not there. Jinja2 has a lenient kind, for a conditional without else.
	undefined struct {
		at      int
		message string
		lenient bool
	}

	// tuple is immutable, like everything here; groups are those of the filter groupby, which have attributes.
	tuple struct {
		items []any
		group bool
	}

	// markup is a string that the filters escape, safe and tojson made: escape leaves it alone.
	markup string

	// view is what keys(), values() and items() of a dict return.
	view struct {
		kind  string
		items []any
	}

	// interval is a range().
	interval struct{ start, stop, step int64 }

	// namespace has attributes that a template may set.
	namespace struct{ *dict }

	// bound is a method that has not been called.
	bound struct {
		receiver any
		method   *function
	}
)

// plain converts a value of the caller to a value of the evaluator, one level deep. Values of the evaluator stay unchanged.
func (r *render) plain(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []any, map[string]any:
		return v
	case *undefined, *tuple, markup, *view, interval, *namespace, *bound, *dict, *iterator, *loop, *macro, *function,
		*cycler, *joiner, written:
		return v
	case int:
		return int64(v)
	case json.Number:
		return r.number(v)
	case []string:
		return converted(r, v)
	case []map[string]any:
		return converted(r, v)
	}
	return r.reflected(reflect.ValueOf(v))
}

func converted[T any](r *render, list []T) []any {
	r.list(len(list))
	items := make([]any, len(list))
	for i := range list {
		items[i] = list[i]
	}
	return items
}

// reflected handles named and less common types of plain data. Structs, pointers and functions stay out of reach.
func (r *render) reflected(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		if v.Uint() > math.MaxInt64 {
			return json.Number(strconv.FormatUint(v.Uint(), 10))
		}
		return int64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Slice, reflect.Array:
		r.list(v.Len())
		items := make([]any, v.Len())
		for i := range items {
			items[i] = v.Index(i).Interface()
		}
		return items
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			r.list(v.Len())
			m := make(map[string]any, v.Len())
			for _, key := range v.MapKeys() {
				m[key.String()] = v.MapIndex(key).Interface()
			}
			return m
		}
	}
	r.fail("a value of the Go type %s cannot be used in a template", v.Type())
	return nil
}

// typeName is what Python calls the type of v.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, json.Number:
		return "int"
	case float64:
		return "float"
	case written:
		return typeName(v.value)
	case string, markup:
		return "str"
	case []any:
		return "list"
	case map[string]any, *dict:
		return "dict"
	case *tuple:
		return "tuple"
	case *view:
		return "dict_" + v.kind
	case interval:
		return "range"
	case *iterator:
		return "generator"
	case *namespace:
		return "Namespace"
	case *loop:
		return "LoopContext"
	case *undefined:
		return "Undefined"
	case *macro:
		return "Macro"
	case *bound:
		return "method"
	}
	return fmt.Sprintf("%T", v)
}

// defined returns v, or fails when v is undefined.
func (r *render) defined(v any) any {
	if u, ok := v.(*undefined); ok {
		failAt(u.at, "%s", u.message)
	}
	return v
}

// truth is Python's bool(v).
func (r *render) truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case written:
		return strings.ContainsAny(v.text[:(strings.IndexAny(v.text+"e", "eE"))], "123456789")
	case string:
		return v != ""
	case *undefined:
		if v.lenient {
			return false
		}
		r.defined(v)
	}
	if n, ok := r.length(v); ok {
		return n > 0
	}
	return true
}

// length is Python's len(v); ok is false if v has no length.
func (r *render) length(v any) (n int, ok bool) {
	switch v := v.(type) {
	case string:
		r.scan(len(v))
		return runeCount(v), true
	case markup:
		return r.length(string(v))
	case []any:
		return len(v), true
	case *tuple:
		return len(v.items), true
	case map[string]any:
		return len(v), true
	case *dict:
		return len(v.entries), true
	case *view:
		return len(v.items), true
	case interval:
		return v.length(), true
	case *loop:
		return v.length(r), true
	case *undefined:
		if v.lenient {
			return 0, true
		}
		r.defined(v)
	}
	return 0, false
}

// text returns the characters of a string, marked safe or not.
func text(v any) (s string, ok bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

// like returns s as the same kind of string as v.
func like(v any, s string) any {
	if _, ok := v.(markup); ok {
		return markup(s)
	}
	return s
}

// sequence returns the items of a list or a tuple and the kind of v, or "" for
// other values.
func sequence(v any) (items []any, kind string) {
	switch v := v.(type) {
	case []any:
		return v, "list"
	case *tuple:
		return v.items, "tuple"
	}
	return nil, ""
}

// sequenceOf is a sequence of that kind.
func sequenceOf(kind string, items []any) any {
	if kind == "tuple" {
		return &tuple{items: items}
	}
	return items
}

// integer returns v as an int64; Python counts True and False among the integers.
func (r *render) integer(v any, what string) int64 {
	if i, ok := asInt(r.defined(v)); ok {
		return i
	}
	if isWide(v) {
		r.fail("%s does not fit into 64 bits", what)
	}
	r.fail("%s is a %s and not an integer", what, typeName(v))
	return 0
}

// An iterator is a generator of Python: it can be read once. As a value it is what map, select and their like return.
type iterator struct {
	items []any
	pull  func() (any, bool) // instead of items, when not nil
	depth int                // iterators that read from iterators
}

func (it *iterator) next() (any, bool) {
	if it.pull != nil {
		return it.pull()
	}
	if len(it.items) == 0 {
		return nil, false
	}
	item := it.items[0]
	it.items = it.items[1:]
	return item, true
}

// rest returns the remaining items.
func (it *iterator) rest() iter.Seq[any] {
	return func(yield func(any) bool) {
		for {
			if item, ok := it.next(); !ok || !yield(item) {
				return
			}
		}
	}
}

// sifted returns an iterator over the items of source for which keep returns true.
func (r *render) sifted(source *iterator, keep func(item any) bool) *iterator {
	return r.over(source, func() (any, bool) {
		for item := range source.rest() {
			if keep(item) {
				return item, true
			}
		}
		return nil, false
	})
}

// over makes an iterator that reads from another.
func (r *render) over(source *iterator, pull func() (any, bool)) *iterator {
	if source.depth >= maxDepth {
		r.fail("filters without an end between them are nested deeper than %d: put |list there", maxDepth)
	}
	return &iterator{pull: pull, depth: source.depth + 1}
}

// iterate is Python's iter(v).
func (r *render) iterate(v any) *iterator {
	switch v := v.(type) {
	case []any:
		return r.plainItems(v)
	case *tuple:
		return &iterator{items: v.items}
	case *view:
		return &iterator{items: v.items}
	case map[string]any, *dict:
		return &iterator{items: r.keys(v)}
	case *iterator:
		return v
	case string:
		return r.characters(v)
	case markup:
		return r.characters(string(v))
	case interval:
		return v.iterate(r)
	case *undefined:
		if v.lenient {
			return &iterator{}
		}
		r.defined(v)
	}
	r.fail("a %s cannot be iterated over", typeName(v))
	return nil
}

// plainItems iterates over a list, which may be the caller's and have items that are not plain yet.
func (r *render) plainItems(list []any) *iterator {
	return &iterator{pull: func() (any, bool) {
		if len(list) == 0 {
			return nil, false
		}
		item := list[0]
		list = list[1:]
		r.charge(1)
		return r.plain(item), true
	}}
}

func (r *render) characters(s string) *iterator {
	return &iterator{pull: func() (any, bool) {
		if s == "" {
			return nil, false
		}
		size := runeSize(s)
		item := s[:size]
		s = s[size:]
		r.charge(1)
		return item, true
	}}
}

// all reads an iterable to its end.
func (r *render) all(v any) []any {
	switch v := v.(type) {
	case *tuple:
		r.list(len(v.items))
		return slices.Clone(v.items)
	case interval:
		r.list(v.length())
	}
	items := []any{}
	for item := range r.iterate(v).rest() {
		r.charge(2)
		items = append(items, item)
	}
	return items
}
