package jinja

import (
	"slices"
	"strconv"
	"strings"
)

func listFilters() []*function {
	fallback := define("default", "default_value='' boolean=false", defaultFilter)
	fallback.toleratesUndefined = true
	items := define("items", "", itemsFilter)
	items.toleratesUndefined = true
	return []*function{
		fallback,
		items,
		define("attr", "name", attributeFilter),
		define("batch", "linecount fill_with=none", batch),
		define("slice", "slices fill_with=none", columns),
		define("dictsort", "case_sensitive=false by='key' reverse=false", dictSort),
		define("first", "", first),
		define("last", "", last),
		define("groupby", "attribute default=none case_sensitive=false", groupBy),
		define("join", "d='' attribute=none", join),
		define("length", "", lengthFilter),
		define("list", "", func(r *render, v any, _ []any) any { return r.all(v) }),
		define("min", "case_sensitive=false attribute=none", func(r *render, v any, a []any) any { return r.extreme(v, a, -1) }),
		define("max", "case_sensitive=false attribute=none", func(r *render, v any, a []any) any { return r.extreme(v, a, 1) }),
		define("reverse", "", reverse),
		define("sort", "reverse=false case_sensitive=false attribute=none", sortFilter),
		define("sum", "attribute=none start=0", sum),
		define("unique", "case_sensitive=false attribute=none", unique),
	}
}

func defaultFilter(r *render, v any, a []any) any {
	if isUndefined(v) || r.truth(a[1]) && !r.truth(v) {
		return a[0]
	}
	return v
}

func itemsFilter(r *render, v any, _ []any) any {
	if isUndefined(v) {
		return &iterator{}
	}
	if !isMapping(v) {
		r.fail("items takes a dict and not a %s", typeName(v))
	}
	return &iterator{items: r.pairs(v)}
}

// attributeFilter reads an attribute of the type, never a key.
func attributeFilter(r *render, v any, a []any) any {
	name := r.textOf(a[0], "the name of the attribute")
	if strings.HasPrefix(name, "_") {
		r.fail("the attribute %q is private", name)
	}
	if value, ok := r.member(r.defined(v), name); ok {
		return value
	}
	return &undefined{at: r.at, message: "a " + typeName(v) + " has no attribute " + shortened(quoted(name)) + ": attr does not read keys"}
}

func lengthFilter(r *render, v any, _ []any) any {
	n, ok := r.length(v)
	if !ok {
		r.fail("a %s has no length", typeName(v))
	}
	return int64(n)
}

func first(r *render, v any, _ []any) any {
	if item, ok := r.iterate(v).next(); ok {
		return item
	}
	return &undefined{at: r.at, message: "there is no first item: the sequence is empty"}
}

func last(r *render, v any, _ []any) any {
	if item, ok := r.reversed(v).next(); ok {
		return item
	}
	return &undefined{at: r.at, message: "there is no last item: the sequence is empty"}
}

// reversed implements Python's reversed(v).
func (r *render) reversed(v any) *iterator {
	switch v := r.defined(v).(type) {
	case *iterator, *namespace, *loop:
		r.fail("a %s cannot be read backwards: put |list before", typeName(v))
	case interval:
		return v.slice([3]*int64{}, -1).iterate(r)
	}
	items := r.all(v)
	slices.Reverse(items)
	if _, safe := v.(markup); safe {
		for i := range items {
			items[i] = markup(items[i].(string))
		}
	}
	return &iterator{items: items}
}

func reverse(r *render, v any, _ []any) any {
	if s, ok := text(v); ok {
		minusOne := int64(-1)
		return like(v, r.slicedText(s, [3]*int64{nil, nil, &minusOne}, -1))
	}
	if _, ok := v.(*iterator); ok {
		items := r.all(v)
		slices.Reverse(items)
		return items
	}
	return r.reversed(v)
}

// A getter reads the attribute "a.b.0" of a value. Without a name it returns
// the value.
type getter struct {
	parts    []any
	fallback any
	anyCase  bool
}

func (r *render) getter(attribute any, anyCase bool) getter {
	g := getter{anyCase: anyCase}
	name, ok := text(attribute)
	switch {
	case attribute == nil:
	case !ok:
		g.parts = []any{r.defined(attribute)}
	default:
		for part := range strings.SplitSeq(name, ".") {
			if every(part, func(c rune) bool { return c >= '0' && c <= '9' }) {
				i, err := strconv.ParseInt(part, 10, 64)
				if err != nil {
					r.fail("the index %s is too large", shortened(part))
				}
				g.parts = append(g.parts, i)
			} else {
				g.parts = append(g.parts, part)
			}
		}
	}
	r.charge(len(g.parts))
	return g
}

func (g getter) read(r *render, v any) any {
	for _, part := range g.parts {
		r.charge(2)
		value, ok := r.item(r.defined(v), part)
		switch {
		case ok:
			v = value
		case g.fallback != nil:
			v = g.fallback
		default:
			v = r.undefinedMember(&literal{}, v, part, r.at)
		}
	}
	if s, ok := text(v); ok && g.anyCase {
		r.grow(0, len(s))
		return lower(s)
	}
	return v
}

// keyed is an item with its sort key.
type keyed struct{ key, item any }

func (r *render) keyed(v any, key func(any) any) []keyed {
	items := r.all(v)
	list := make([]keyed, len(items))
	for i, item := range items {
		list[i] = keyed{key(item), item}
	}
	return list
}

func (r *render) sorted(list []keyed, backwards bool) []any {
	r.list(len(list))
	slices.SortStableFunc(list, func(a, b keyed) int {
		order, _ := r.order(a.key, b.key, 0)
		if backwards {
			return -order
		}
		return order
	})
	items := make([]any, len(list))
	for i := range list {
		items[i] = list[i].item
	}
	return items
}

func sortFilter(r *render, v any, a []any) any {
	anyCase := !r.truth(a[1])
	getters := []getter{}
	if names, ok := text(a[2]); ok {
		for name := range strings.SplitSeq(names, ",") {
			getters = append(getters, r.getter(name, anyCase))
		}
	} else {
		getters = append(getters, r.getter(a[2], anyCase))
	}
	list := r.keyed(v, func(item any) any {
		key := make([]any, len(getters))
		for i, g := range getters {
			key[i] = g.read(r, item)
		}
		return key
	})
	return r.sorted(list, r.truth(a[0]))
}

func dictSort(r *render, v any, a []any) any {
	if !isMapping(r.defined(v)) {
		r.fail("dictsort takes a dict and not a %s", typeName(v))
	}
	by, _ := text(a[1])
	position := map[string]int{"key": 0, "value": 1}[by]
	if by != "key" && by != "value" {
		r.fail("dictsort sorts by key or by value")
	}
	g := getter{anyCase: !r.truth(a[0])}
	list := r.keyed(r.pairs(v), func(pair any) any { return g.read(r, pair.(*tuple).items[position]) })
	return r.sorted(list, r.truth(a[2]))
}

func groupBy(r *render, v any, a []any) any {
	g := r.getter(a[0], !r.truth(a[2]))
	g.fallback = a[1]
	list := r.keyed(v, func(item any) any { return g.read(r, item) })
	r.sorted(list, false)
	groups := []any{}
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && r.equal(list[i].key, list[end].key, 0) {
			end++
		}
		items := make([]any, 0, end-i)
		for _, one := range list[i:end] {
			items = append(items, one.item)
		}
		exact := g
		exact.anyCase = false
		groups = append(groups, &tuple{items: []any{exact.read(r, items[0]), items}, group: true})
		i = end
	}
	return groups
}

func (r *render) extreme(v any, a []any, sign int) any {
	g := r.getter(a[1], !r.truth(a[0]))
	items := r.iterate(v)
	best, ok := items.next()
	if !ok {
		return &undefined{at: r.at, message: "there is no smallest or largest item: the sequence is empty"}
	}
	key := g.read(r, best)
	for item := range items.rest() {
		other := g.read(r, item)
		if order, comparable := r.order(other, key, 0); comparable && order*sign > 0 {
			best, key = item, other
		}
	}
	return best
}

func unique(r *render, v any, a []any) any {
	g := r.getter(a[1], !r.truth(a[0]))
	seen := map[any]bool{}
	return r.sifted(r.iterate(v), func(item any) bool {
		r.charge(4)
		key := r.hash(g.read(r, item))
		if seen[key] {
			return false
		}
		seen[key] = true
		return true
	})
}

func join(r *render, v any, a []any) any {
	g := r.getter(a[1], false)
	return r.between(r.str(a[0]), v, func(b *builder, item any) { b.value(g.read(r, item)) })
}

// between writes the items of an iterable with a separator.
func (r *render) between(separator string, v any, write func(b *builder, item any)) string {
	b := r.builder()
	first := true
	for item := range r.iterate(v).rest() {
		if !first {
			b.text(separator)
		}
		first = false
		write(b, item)
	}
	return b.String()
}

func sum(r *render, v any, a []any) any {
	g := r.getter(a[0], false)
	total := r.defined(a[1])
	if _, ok := text(total); ok {
		r.fail("sum does not join strings: use join")
	}
	for item := range r.iterate(v).rest() {
		total = r.arithmetic("+", total, r.defined(g.read(r, item)))
	}
	return total
}

func batch(r *render, v any, a []any) any {
	size := r.integer(a[0], "the size of a batch")
	items := r.iterate(v)
	var held []any // an item that was read for the next batch
	return r.over(items, func() (any, bool) {
		row := held
		held = nil
		for item := range items.rest() {
			r.charge(2)
			if int64(len(row)) == size {
				r.charge(8)
				held = []any{item}
				return row, true
			}
			row = append(row, item)
		}
		if len(row) == 0 {
			return nil, false
		}
		if missing := size - int64(len(row)); a[1] != nil && missing > 0 {
			r.list(product(1, missing))
			row = append(row, slices.Repeat([]any{a[1]}, int(missing))...)
		}
		return row, true
	})
}

// columns implements Jinja2's slice.
func columns(r *render, v any, a []any) any {
	items := r.all(v)
	count := r.integer(a[0], "the number of slices")
	if count == 0 {
		r.fail("a list cannot be cut into 0 slices")
	}
	size, extra := floorQuotient(int64(len(items)), count), floorRemainder(int64(len(items)), count)
	column, offset := int64(0), int64(0)
	return &iterator{pull: func() (any, bool) {
		if column >= count {
			return nil, false
		}
		start := offset + column*size
		if column < extra {
			offset++
		}
		end := offset + (column+1)*size
		r.list(int(end-start) + 5)
		cut := slices.Clone(items[start:end])
		if a[1] != nil && column >= extra {
			cut = append(cut, a[1])
		}
		column++
		return append([]any{}, cut...), true
	}}
}
