package jinja

import (
	"maps"
	"slices"
)

// Jinja2 decides at compile time where a variable lives; this file follows its
// rules (idtracking.py). Loops, with, macros, captures and filter blocks open a
// scope. An "if" opens none. If a scope sets a name, the name belongs to that
// scope, in all of it. If the scope only reads a name, the name belongs to the
// nearest outer scope that has it, or to the caller.
//
//	{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 9 %}{{ x }}{% endfor %}{{ x }}
//
// renders 19191: the loop has its own x. It starts each iteration with the
// value of the outer x, which does not change.

// place is where a render finds a variable: hops frames outwards, in a slot.
type place struct {
	hops, slot int
}

// origin is the source of a variable's value at the beginning of its scope.
type origin uint8

const (
	fromNowhere origin = iota // nothing: undefined until it is set
	fromCaller                // what Render got under that name
	fromOuter                 // the value of the outer scope's variable
	fromEntry                 // the value that the statement sets: loop variables, parameters
)

type variable struct {
	name     string
	origin   origin
	outer    *variable
	slot     int
	function *functionScope
	set      bool // an assignment has been met, in the order of the source
	at       int  // where it is read first, when it is fromCaller
}

// functionScope describes a frame, which belongs to the template or a macro.
// Scopes inside share the frame.
type functionScope struct {
	depth, slots int
}

type scope struct {
	parent    *scope
	function  *functionScope
	variables []*variable
	index     map[string]*variable
	stores    map[string]bool // the names that it sets, wherever these begin
}

func newScope(parent *scope, ownFrame bool) *scope {
	s := &scope{parent: parent}
	switch {
	case parent == nil:
		s.function = &functionScope{}
	case ownFrame:
		s.function = &functionScope{depth: parent.function.depth + 1}
	default:
		s.function = parent.function
	}
	return s
}

// beside returns a scope with the same parent in the same frame.
func (s *scope) beside() *scope {
	twin := newScope(s.parent, false)
	twin.function = s.function
	return twin
}

func (s *scope) define(name string, from origin, outer *variable) *variable {
	v := s.index[name]
	if v == nil {
		v = &variable{name: name, slot: s.function.slots, function: s.function}
		s.function.slots++
		if s.index == nil {
			s.index = map[string]*variable{}
		}
		s.index[name] = v
		s.variables = append(s.variables, v)
	}
	v.origin, v.outer = from, outer
	return v
}

func (s *scope) find(name string) *variable {
	for ; s != nil; s = s.parent {
		if v := s.index[name]; v != nil {
			return v
		}
	}
	return nil
}

func (s *scope) outer(name string) *variable {
	if s.parent == nil {
		return nil
	}
	return s.parent.find(name)
}

func (s *scope) parameter(name string) *variable {
	s.sets(name)
	return s.define(name, fromEntry, nil)
}

func (s *scope) sets(name string) {
	if s.stores == nil {
		s.stores = map[string]bool{}
	}
	s.stores[name] = true
}

func (s *scope) store(name string) {
	s.sets(name)
	if s.index[name] != nil {
		return
	}
	s.inherit(name, fromNowhere)
}

// inherit initialises a variable with the value of the outer scope, if it has
// one.
func (s *scope) inherit(name string, otherwise origin) {
	if outer := s.outer(name); outer != nil {
		s.define(name, fromOuter, outer)
	} else {
		s.define(name, otherwise, nil)
	}
}

func (s *scope) read(n *name) {
	if s.find(n.text) == nil {
		s.define(n.text, fromCaller, nil).at = n.at
	}
}

func (s *scope) readAll(e expression) {
	if n, ok := e.(*name); ok {
		s.read(n)
		return
	}
	e.children(s.readAll)
}

func (s *scope) storeAll(t target) {
	t.names(func(n *name) { s.store(n.text) })
	s.readMembers(t)
}

func (s *scope) readMembers(t target) {
	switch t := t.(type) {
	case *memberTarget:
		s.read(t.object)
	case *tupleTarget:
		for _, inner := range t.targets {
			s.readMembers(inner)
		}
	}
}

// declare collects the variables of the scope from its statements, without entering scopes inside.
func (s *scope) declare(statements body) {
	for _, one := range statements {
		switch one := one.(type) {
		case *outputStatement, *withStatement, *filterStatement:
			expressionsOf(one, s.readAll)
		case *ifStatement:
			s.declareIf(one)
		case *forStatement:
			s.readAll(one.source)
		case *assignment:
			s.readAll(one.value)
			s.storeAll(one.target)
		case *capture:
			s.storeAll(one.target)
		case *macroStatement:
			s.store(one.name.text)
		case *callStatement:
			s.readAll(one.call)
		}
	}
}

// declareIf gives a variable that only some branches set the value that it has
// without the branch. If the caller's x is 5, {% if no %}{% set x = 9 %}{%
// endif %}{{ x }} renders 5, though the template sets x.
func (s *scope) declareIf(one *ifStatement) {
	before := maps.Clone(s.stores)
	for i, branch := range one.branches {
		if i < len(one.tests) {
			s.readAll(one.tests[i])
		}
		s.declare(branch)
	}
	for name := range s.stores {
		if !before[name] {
			s.inherit(name, fromCaller)
		}
	}
}

// place returns the place of a variable, as seen from the scope.
func (s *scope) place(v *variable) place {
	return place{hops: s.function.depth - v.function.depth, slot: v.slot}
}

// reads reports whether a name is read anywhere in the statements, in scopes inside too.
func reads(statements body, text string) bool {
	var found bool
	var visit func(expression)
	visit = func(e expression) {
		if n, ok := e.(*name); ok && n.text == text {
			found = true
		}
		if !found {
			e.children(visit)
		}
	}
	return slices.ContainsFunc(statements, func(one statement) bool {
		expressionsOf(one, visit)
		return found || slices.ContainsFunc(bodiesOf(one), func(inner body) bool { return reads(inner, text) })
	})
}

// expressionsOf visits the expressions that a statement itself holds.
func expressionsOf(one statement, visit func(expression)) {
	switch one := one.(type) {
	case *outputStatement:
		for _, p := range one.pieces {
			if p.value != nil {
				visit(p.value)
			}
		}
	case *ifStatement:
		visitAll(one.tests, visit)
	case *forStatement:
		visit(one.source)
		if one.filter != nil {
			visit(one.filter)
		}
	case *assignment:
		visit(one.value)
	case *capture:
		if one.filters != nil {
			visit(one.filters)
		}
	case *withStatement:
		visitAll(one.values, visit)
	case *filterStatement:
		visit(one.filters)
	case *macroStatement:
		for _, p := range one.parameters {
			if p.defaultValue != nil {
				visit(p.defaultValue)
			}
		}
	case *callStatement:
		visit(one.call)
		expressionsOf(one.caller, visit)
	}
}
