package jinja

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// compare evaluates ==, !=, <, <=, >, >=, in or not in.
func (r *render) compare(operator string, left, right any) bool {
	switch operator {
	case "==":
		return r.equal(left, right, 0)
	case "!=":
		return !r.equal(left, right, 0)
	case "in":
		return r.contains(right, left)
	case "not in":
		return !r.contains(right, left)
	}
	order, comparable := r.order(left, right, 0)
	if !comparable {
		return false
	}
	switch operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// equal implements Python's ==.
func (r *render) equal(a, b any, depth int) bool {
	if depth > maxDepth {
		r.fail("a value is nested deeper than %d", maxDepth)
	}
	r.charge(1)
	a, b = r.plain(a), r.plain(b)
	if ua, ub := isUndefined(a), isUndefined(b); ua || ub {
		r.strictlyDefined(a)
		r.strictlyDefined(b)
		return ua && ub
	}
	if x, ok := text(a); ok {
		y, ok := text(b)
		if ok && len(x) == len(y) {
			r.scan(len(x))
		}
		return ok && x == y
	}
	if order, ok := numericOrder(a, b); ok {
		return order == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case []any, *tuple:
		x, kind := sequence(a)
		y, other := sequence(b)
		return kind == other && slices.EqualFunc(x, y, func(x, y any) bool { return r.equal(x, y, depth+1) })
	case map[string]any, *dict:
		return isMapping(b) && r.equalDicts(a, b, depth)
	case interval:
		b, ok := b.(interval)
		return ok && a.equal(b)
	case *view:
		if other, ok := b.(*view); ok && a != other && a.kind != "values" && other.kind != "values" {
			r.fail("views of dicts cannot be compared: put |list behind each")
		}
	}
	return same(a, b)
}

// same implements Python's `is` for values that have an identity here.
func same(a, b any) bool {
	switch a.(type) {
	case *view, *iterator, *namespace, *loop, *macro, *function, *cycler, *joiner:
		return a == b
	}
	return false
}

func isUndefined(v any) bool {
	_, ok := v.(*undefined)
	return ok
}

// strictlyDefined fails if v is a strict undefined value.
func (r *render) strictlyDefined(v any) {
	if u, ok := v.(*undefined); ok && !u.lenient {
		r.defined(v)
	}
}

func (r *render) equalDicts(a, b any, depth int) bool {
	n, _ := r.length(a)
	m, _ := r.length(b)
	if n != m {
		return false
	}
	for _, e := range r.entries(a) {
		other, ok := r.lookup(b, e.key)
		if !ok || !r.equal(e.value, other, depth+1) {
			return false
		}
	}
	return true
}

// numericOrder compares two numbers. ok is false if one is not a number. A NaN
// equals no number.
func numericOrder(a, b any) (order int, ok bool) {
	x, isInt := asInt(a)
	y, bothInt := asInt(b)
	if isInt && bothInt {
		return cmp.Compare(x, y), true
	}
	if isWide(a) || isWide(b) {
		return wideOrder(a, b)
	}
	f, okA := asFloat(a)
	g, okB := asFloat(b)
	if !okA || !okB {
		return 0, false
	}
	switch {
	case math.IsNaN(f) || math.IsNaN(g):
		return 2, true
	case isInt:
		return -floatIntOrder(g, x), true
	case bothInt:
		return floatIntOrder(f, y), true
	}
	return cmp.Compare(f, g), true
}

// floatIntOrder compares without losing digits that a float64 cannot represent.
func floatIntOrder(f float64, i int64) int {
	if f >= 1<<63 {
		return 1
	}
	if f < -1<<63 {
		return -1
	}
	whole := math.Trunc(f)
	return cmp.Or(cmp.Compare(int64(whole), i), cmp.Compare(f, whole))
}

// isWide reports whether v is a number that is neither an int64 nor a float64.
func isWide(v any) bool {
	switch v.(type) {
	case json.Number, written:
		return true
	}
	return false
}

// order implements Python's < and >. It returns -1, 0 or 1, and comparable is
// false for a NaN. It fails for values without an order.
func (r *render) order(a, b any, depth int) (order int, comparable bool) {
	if depth > maxDepth {
		r.fail("a value is nested deeper than %d", maxDepth)
	}
	r.charge(1)
	a, b = r.defined(r.plain(a)), r.defined(r.plain(b))
	if order, ok := numericOrder(a, b); ok {
		return order, order != 2
	}
	if x, ok := text(a); ok {
		if y, ok := text(b); ok {
			r.scan(min(len(x), len(y)))
			return strings.Compare(x, y), true
		}
	}
	x, kind := sequence(a)
	if y, other := sequence(b); kind == other && kind != "" {
		return r.orderItems(x, y, depth)
	}
	r.fail("a %s and a %s have no order", typeName(a), typeName(b))
	return 0, false
}

func (r *render) orderItems(a, b []any, depth int) (int, bool) {
	for i := range min(len(a), len(b)) {
		if !r.equal(a[i], b[i], depth+1) {
			return r.order(a[i], b[i], depth+1)
		}
	}
	return cmp.Compare(len(a), len(b)), true
}

// contains implements Python's `item in container`.
func (r *render) contains(container, item any) bool {
	if s, ok := text(r.defined(container)); ok {
		part, ok := text(r.defined(item))
		if !ok {
			r.fail("a string contains strings, not a %s", typeName(item))
		}
		r.scan(len(s))
		return strings.Contains(s, part)
	}
	if isMapping(container) {
		r.hash(item)
		_, ok := r.lookup(container, item)
		return ok
	}
	if v, ok := container.(interval); ok {
		if i, ok := asInt(item); ok {
			return v.contains(i)
		}
	}
	if _, ok := container.(*namespace); ok {
		r.fail("a Namespace cannot be searched")
	}
	for one := range r.iterate(container).rest() {
		if r.equal(one, item, 0) {
			return true
		}
	}
	return false
}
