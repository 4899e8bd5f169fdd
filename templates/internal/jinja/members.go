package jinja

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// attribute reads object.name: first a member of Python's type, then the key. A
// name that begins with an underscore is only a key, as in Jinja2's sandbox.
func (r *render) attribute(object any, name string) (any, bool) {
	if strings.HasPrefix(name, "_") {
		if !isMapping(object) {
			r.fail("the attribute %q is private", name)
		}
		return r.lookup(object, name)
	}
	if value, ok := r.member(object, name); ok {
		return value, true
	}
	return r.lookup(object, name)
}

// item reads object[key]: first the key, then, for a string, a member of
// Python's type.
func (r *render) item(object, key any) (any, bool) {
	if value, ok := r.element(object, r.defined(key)); ok {
		return value, true
	}
	name, ok := text(key)
	if !ok {
		return nil, false
	}
	if strings.HasPrefix(name, "_") && !isMapping(object) {
		r.fail("the attribute %q is private", name)
	}
	return r.member(object, name)
}

// element reads an element of a list or dict, or a character of a string.
func (r *render) element(object, key any) (any, bool) {
	if isMapping(object) {
		return r.lookup(object, key)
	}
	i, ok := asInt(key)
	if !ok {
		return nil, false
	}
	switch object := object.(type) {
	case []any, *tuple:
		items, _ := sequence(object)
		return r.elementAt(items, i)
	case interval:
		return object.at(i)
	case string, markup:
		s, _ := text(object)
		c, ok := r.character(s, i)
		return like(object, c), ok
	}
	return nil, false
}

func (r *render) elementAt(items []any, i int64) (any, bool) {
	if i < 0 {
		i += int64(len(items))
	}
	if i < 0 || i >= int64(len(items)) {
		return nil, false
	}
	return r.plain(items[i]), true
}

func (r *render) character(s string, i int64) (string, bool) {
	r.scan(len(s))
	if i < 0 {
		i += int64(runeCount(s))
	}
	if i < 0 || i >= int64(len(s)) {
		return "", false
	}
	for ; i > 0 && s != ""; i-- {
		s = s[runeSize(s):]
	}
	return s[:runeSize(s)], s != ""
}

// member reads a member of an object's type, without its keys: methods, and the
// attributes of Jinja2's own types.
func (r *render) member(object any, name string) (any, bool) {
	switch object := object.(type) {
	case *loop:
		return object.attribute(r, name)
	case *namespace:
		return object.get(r, name)
	case *cycler:
		if name == "current" {
			return object.items[object.position], true
		}
	case *tuple:
		if object.group && name == "grouper" {
			return object.items[0], true
		}
		if object.group && name == "list" {
			return object.items[1], true
		}
	case *macro, *function, *bound:
		r.fail("the attributes of a function are not supported")
	}
	kind := typeName(object)
	if _, ok := object.(*cycler); ok {
		kind = "cycler"
	}
	if method := r.program.library.method(kind, name); method != nil {
		return &bound{object, method}, true
	}
	if slices.Contains(refusedMembers[kind], name) {
		r.fail("%s.%s is not supported in a template", kind, name)
	}
	return nil, false
}

// slice is Python's object[start:stop:step].
func (r *render) slice(object any, bounds [3]*int64) any {
	step := int64(1)
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 {
		r.fail("the stride of a slice cannot be zero")
	}
	switch object := object.(type) {
	case []any, *tuple:
		items, kind := sequence(object)
		return sequenceOf(kind, sliced(r, items, bounds, step))
	case string, markup:
		s, _ := text(object)
		return like(object, r.slicedText(s, bounds, step))
	case interval:
		return object.slice(bounds, step)
	}
	r.fail("a %s cannot be sliced", typeName(object))
	return nil
}

// sliceBounds resolves missing, negative and too large bounds (CPython's
// PySlice_AdjustIndices).
func sliceBounds(bounds [3]*int64, step int64, length int) (start, stop, count int64) {
	n := int64(length)
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	resolve := func(bound *int64, missing int64) int64 {
		if bound == nil {
			return missing
		}
		i := *bound
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	if step > 0 {
		start, stop = resolve(bounds[0], low), resolve(bounds[1], high)
		if start < stop {
			count = (stop-start-1)/step + 1
		}
		return start, stop, count
	}
	start, stop = resolve(bounds[0], high), resolve(bounds[1], low)
	if stop < start {
		count = (start-stop-1)/-max(step, -1<<62) + 1
	}
	return start, stop, count
}

func sliced[T any](r *render, items []T, bounds [3]*int64, step int64) []T {
	start, _, count := sliceBounds(bounds, step, len(items))
	r.list(int(count))
	result := make([]T, count)
	for i := range result {
		result[i] = items[start+int64(i)*step]
	}
	return result
}

func (r *render) slicedText(s string, bounds [3]*int64, step int64) string {
	r.grow(0, len(s))
	if step == 1 && isASCII(s) {
		start, stop, count := sliceBounds(bounds, step, len(s))
		if count == 0 {
			return ""
		}
		return s[start:stop]
	}
	r.list(len(s) / 4)
	return string(sliced(r, []rune(s), bounds, step))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func (r *render) undefinedName(n *name) *undefined {
	candidates := slices.Collect(maps.Keys(r.vars))
	return &undefined{at: n.at, message: fmt.Sprintf("%q is undefined%s", n.text, suggestion(n.text, candidates))}
}

// undefinedMember is what Jinja2 returns for an attribute or element that is not there.
func (r *render) undefinedMember(source expression, object, key any, at int) *undefined {
	name, isText := text(key)
	if !isText {
		name = r.repr(key)
	}
	var candidates []string
	if m, ok := object.(map[string]any); ok && isText {
		candidates = slices.Collect(maps.Keys(m))
	}
	_, path := pathOf(source)
	if path == nil || !isText {
		return &undefined{at: at, message: fmt.Sprintf("a %s has no %s%s", typeName(object), shortened(fmt.Sprintf("%q", name)), suggestion(name, candidates))}
	}
	return &undefined{at: at, message: fmt.Sprintf("%q is undefined%s", shortened(strings.Join(append(path, name), ".")), suggestion(name, candidates))}
}
