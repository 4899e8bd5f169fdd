package jinja

import "slices"

func selectionFilters() []*function {
	return []*function{
		{name: "map", open: mapFilter},
		{name: "select", open: selection("select", false, true)},
		{name: "reject", open: selection("reject", false, false)},
		{name: "selectattr", open: selection("selectattr", true, true)},
		{name: "rejectattr", open: selection("rejectattr", true, false)},
	}
}

// mapFilter applies a filter to every element, or reads an attribute of every
// element.
func mapFilter(r *render, v any, g *given) any {
	if v, ok := v.(*undefined); ok {
		r.truth(v)
	}
	if !r.truth(v) {
		return &iterator{}
	}
	change := r.mapping(g)
	items := r.iterate(v)
	at := r.at
	return r.over(items, func() (any, bool) {
		item, ok := items.next()
		if !ok {
			return nil, false
		}
		r.charge(2)
		r.at = at
		return change(item), true
	})
}

func (r *render) mapping(g *given) func(any) any {
	if attribute, ok := g.keyword("attribute"); ok && len(g.positional) == 0 {
		fallback, _ := g.keyword("default")
		for _, k := range g.keywords {
			if k.key != "attribute" && k.key != "default" {
				r.fail("filter %q has no argument %q", "map", k.key)
			}
		}
		read := r.getter(attribute, false)
		read.fallback = fallback
		return func(item any) any { return read.read(r, item) }
	}
	if len(g.positional) == 0 {
		r.fail("map needs the name of a filter, or attribute=…")
	}
	name := r.textOf(g.positional[0], "the name of the filter")
	f := r.program.library.filter(name, r.at)
	rest := &given{g.positional[1:], g.keywords}
	return func(item any) any { return f.invoke(r, "filter", item, rest) }
}

// selection returns select, reject, selectattr or rejectattr. keep is the
// result of the test that an element needs to stay.
func selection(name string, byAttribute, keep bool) func(*render, any, *given) any {
	return func(r *render, v any, g *given) any {
		if !r.truth(v) {
			return &iterator{}
		}
		accepts := r.predicate(name, byAttribute, g)
		at := r.at
		return r.sifted(r.iterate(v), func(item any) bool {
			r.charge(2)
			r.at = at
			return accepts(item) == keep
		})
	}
}

func (r *render) predicate(name string, byAttribute bool, g *given) func(any) bool {
	arguments := slices.Clone(g.positional)
	read := getter{}
	if byAttribute {
		if len(arguments) == 0 {
			r.fail("%s needs the name of an attribute", name)
		}
		read = r.getter(arguments[0], false)
		arguments = arguments[1:]
	}
	if len(arguments) == 0 {
		return func(item any) bool { return r.truth(read.read(r, item)) }
	}
	test := r.program.library.test(r.textOf(arguments[0], "the name of the test"), r.at)
	rest := &given{arguments[1:], g.keywords}
	return func(item any) bool { return r.truth(test.invoke(r, "test", read.read(r, item), rest)) }
}
