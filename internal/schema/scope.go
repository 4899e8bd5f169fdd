package schema

import "cmp"

// A place is a value within the checked value. Places are pointers, so that
// they can be keys of stored results.
type place struct {
	value  any
	parent *place
	step   step
	depth  int
	names  map[string]*place
	items  []*place
}

// child returns the place of a value within p. It always returns the same
// pointer for the same step.
func (p *place) child(s step, value any) *place {
	if s.index >= 0 {
		if p.items == nil {
			p.items = make([]*place, len(p.value.([]any)))
		}
		if p.items[s.index] == nil {
			p.items[s.index] = &place{value: value, parent: p, step: s, depth: p.depth + 1}
		}
		return p.items[s.index]
	}
	c := p.names[s.name]
	if c == nil {
		if p.names == nil {
			p.names = make(map[string]*place, len(p.value.(map[string]any)))
		}
		c = &place{value: value, parent: p, step: s, depth: p.depth + 1}
		p.names[s.name] = c
	}
	return c
}

func (p *place) steps() []step {
	steps := make([]step, p.depth)
	for ; p.parent != nil; p = p.parent {
		steps[p.depth-1] = p.step
	}
	return steps
}

// compare orders places by their paths.
func (p *place) compare(o *place) int {
	deeper := p.depth - o.depth
	for p.depth > o.depth {
		p = p.parent
	}
	for o.depth > p.depth {
		o = o.parent
	}
	order := 0
	for ; p != o && p.parent != nil; p, o = p.parent, o.parent {
		if step := compareSteps(p.step, o.step); step != 0 {
			order = step
		}
	}
	return cmp.Or(order, deeper)
}

// A scope is the list of resources on the path to a node, each once, the
// outermost first. Dynamic references are resolved in it. Equal paths share one
// scope, because a scope stores its inner scopes. The outermost scope has no
// resource.
type scope struct {
	outer *scope
	res   *resource
	inner map[*resource]*scope
}

// enter returns the scope of a resource within sc. A resource that is already on
// the path has no new scope.
func (sc *scope) enter(res *resource) *scope {
	for o := sc; o.outer != nil; o = o.outer {
		if o.res == res {
			return sc
		}
	}
	next := sc.inner[res]
	if next == nil {
		next = &scope{outer: sc, res: res}
		if sc.inner == nil {
			sc.inner = map[*resource]*scope{}
		}
		sc.inner[res] = next
	}
	return next
}

// outermost returns the outermost node in the scope that pick finds, or
// otherwise.
func (sc *scope) outermost(pick func(*resource) *node, otherwise *node) *node {
	for ; sc.outer != nil; sc = sc.outer {
		if n := pick(sc.res); n != nil {
			otherwise = n
		}
	}
	return otherwise
}

// seen records the evaluated properties or items of a value, for
// unevaluatedProperties and unevaluatedItems.
type seen struct {
	all   bool
	names map[string]bool
	items map[int]bool
	first int // number of evaluated items at the beginning
}

func (s *seen) add(o seen) {
	s.all, s.first = s.all || o.all, max(s.first, o.first)
	for name := range o.names {
		s.name(name)
	}
	for i := range o.items {
		s.item(i)
	}
}

func (s *seen) name(name string) {
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

func (s *seen) item(i int) {
	if s.items == nil {
		s.items = map[int]bool{}
	}
	s.items[i] = true
}
