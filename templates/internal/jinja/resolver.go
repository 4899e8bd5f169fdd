package jinja

import "slices"

// resolver gives every name its place, statement by statement in source order,
// and records which variables the caller must set. Its guards are the paths
// that an enclosing condition has found to be defined.
type resolver struct {
	library *library
	reads   []read
	guards  [][]string
	found   *mistakes
}

// read is one use of a variable of the caller.
type read struct {
	path    []string
	at      int
	guarded bool
	spared  int // number of elements at the end of path that may be missing
}

func (v *resolver) body(s *scope, statements body) {
	for _, one := range statements {
		v.statement(s, one)
	}
}

func (v *resolver) statement(s *scope, one statement) {
	switch one := one.(type) {
	case *outputStatement:
		expressionsOf(one, func(e expression) { v.expression(s, e) })
	case *ifStatement:
		v.ifStatement(s, one)
	case *forStatement:
		v.forStatement(s, one)
	case *assignment:
		v.expression(s, one.value)
		v.target(s, one.target)
	case *capture:
		one.scope = v.inner(s, one.body, one.filters)
		v.target(s, one.target)
	case *withStatement:
		v.withStatement(s, one)
	case *filterStatement:
		one.scope = v.inner(s, one.body, one.filters)
	case *macroStatement:
		v.macro(s, one)
		v.target(s, one.name)
	case *callStatement:
		v.macro(s, one.caller)
		v.expression(s, one.call)
	}
}

// inner resolves a body in its own scope, and then the filters of its text.
func (v *resolver) inner(s *scope, content body, filters expression) *scope {
	inside := newScope(s, false)
	inside.declare(content)
	if filters != nil {
		inside.readAll(filters)
	}
	v.body(inside, content)
	if filters != nil {
		v.expression(inside, filters)
	}
	return inside
}

func (v *resolver) ifStatement(s *scope, one *ifStatement) {
	outside := len(v.guards)
	for i, branch := range one.branches {
		before := len(v.guards)
		if i < len(one.tests) {
			v.expression(s, one.tests[i])
			v.guards = append(v.guards, provenBy(one.tests[i], true)...)
		}
		v.body(s, branch)
		v.guards = v.guards[:before]
		if i < len(one.tests) {
			v.guards = append(v.guards, provenBy(one.tests[i], false)...)
		}
	}
	v.guards = v.guards[:outside]
}

func (v *resolver) forStatement(s *scope, one *forStatement) {
	v.expression(s, one.source)
	one.scope = newScope(s, one.recursive)
	if reads(one.body, "loop") {
		one.loop = one.scope.parameter("loop")
	}
	one.target.names(func(n *name) { one.scope.parameter(n.text) })
	one.scope.declare(one.body)
	if one.filter != nil {
		one.filterTarget, one.filterScope = copied(one.target), one.scope.beside()
		one.filterTarget.names(func(n *name) { one.filterScope.parameter(n.text) })
		one.filterScope.readAll(one.filter)
		v.target(one.filterScope, one.filterTarget)
		v.expression(one.filterScope, one.filter)
	}
	v.target(one.scope, one.target)
	v.body(one.scope, one.body)
	if one.hasElse {
		one.elseScope = one.scope.beside()
		one.elseScope.declare(one.otherwise)
		v.body(one.elseScope, one.otherwise)
	}
}

func (v *resolver) withStatement(s *scope, one *withStatement) {
	for _, value := range one.values {
		v.expression(s, value)
	}
	one.scope = newScope(s, false)
	for _, t := range one.targets {
		t.names(func(n *name) { one.scope.parameter(n.text) })
	}
	one.scope.declare(one.body)
	for _, t := range one.targets {
		v.target(one.scope, t)
	}
	v.body(one.scope, one.body)
}

func (v *resolver) macro(s *scope, one *macroStatement) {
	one.scope = newScope(s, true)
	for _, p := range one.parameters {
		one.scope.parameter(p.name.text)
	}
	for i, special := range []string{"caller", "kwargs", "varargs"} {
		if reads(one.body, special) {
			one.special[i] = one.scope.parameter(special)
		}
	}
	for _, p := range one.parameters {
		if p.defaultValue != nil {
			one.scope.readAll(p.defaultValue)
		}
	}
	one.scope.declare(one.body)
	for _, p := range one.parameters {
		if p.defaultValue != nil {
			v.expression(one.scope, p.defaultValue)
		}
		v.target(one.scope, p.name)
	}
	v.body(one.scope, one.body)
}

func (v *resolver) target(s *scope, t target) {
	switch t := t.(type) {
	case *name:
		found := s.find(t.text)
		found.set = true
		t.place = s.place(found)
	case *memberTarget:
		v.name(s, t.object)
	case *tupleTarget:
		for _, inner := range t.targets {
			v.target(s, inner)
		}
	}
}

// expression resolves the names inside e.
func (v *resolver) expression(s *scope, e expression) {
	v.use(s, e, false)
}

// use resolves e; guarded means that e may be undefined.
func (v *resolver) use(s *scope, e expression, guarded bool) {
	if root, path := pathOf(e); root != nil {
		v.path(s, e, root, path, guarded)
		return
	}
	switch e := e.(type) {
	case *applied:
		if e.value != nil {
			v.use(s, e.value, e.function.toleratesUndefined)
		}
		e.arguments.children(func(inner expression) { v.use(s, inner, false) })
	case *logical:
		v.use(s, e.left, false)
		v.under(provenBy(e.left, !e.or), func() { v.use(s, e.right, guarded) })
	case *conditional:
		v.use(s, e.test, false)
		v.under(provenBy(e.test, true), func() { v.use(s, e.then, guarded) })
		if e.otherwise != nil {
			v.under(provenBy(e.test, false), func() { v.use(s, e.otherwise, guarded) })
		}
	case *call:
		v.call(s, e)
	default:
		e.children(func(inner expression) { v.use(s, inner, false) })
	}
}

func (v *resolver) under(proven [][]string, body func()) {
	before := len(v.guards)
	v.guards = append(v.guards, proven...)
	body()
	v.guards = v.guards[:before]
}

func (v *resolver) call(s *scope, e *call) {
	if n, ok := e.callee.(*name); ok {
		if v.name(s, n) && !v.library.isGlobal(n.text) {
			v.found.record(func() {
				failNear(n.at, n.text, v.library.callables(s), "unknown function %q", n.text)
			})
		}
	} else {
		v.use(s, e.callee, false)
	}
	e.arguments.children(func(inner expression) { v.use(s, inner, false) })
}

// name resolves one name and reports whether it is read from the caller.
func (v *resolver) name(s *scope, n *name) bool {
	found := s.find(n.text)
	n.place = s.place(found)
	for !found.set && found.origin == fromOuter {
		found = found.outer
	}
	return !found.set && found.origin == fromCaller
}

// path resolves a chain of names such as outputs.draft.title.
func (v *resolver) path(s *scope, e expression, root *name, path []string, guarded bool) {
	free := v.name(s, root) && !v.library.isGlobal(root.text)
	length := 1 // of the chain: path may end before it does
	for ; e != expression(root); length++ {
		switch link := e.(type) {
		case *attribute:
			if free {
				v.found.record(func() { v.library.checkKey(link) })
			}
			e = link.object
		case *subscript:
			v.use(s, link.key, false)
			e = link.object
		}
	}
	if !free {
		return
	}
	one := read{path: path, at: root.at, guarded: guarded}
	if guarded && length == len(path) {
		one.spared = 1
	}
	if v.guarded(path) {
		one.guarded, one.spared = true, len(path)
	}
	v.reads = append(v.reads, one)
}

func (v *resolver) guarded(path []string) bool {
	return slices.ContainsFunc(v.guards, func(guard []string) bool {
		n := min(len(guard), len(path))
		return slices.Equal(guard[:n], path[:n])
	})
}

// pathOf returns the name that a chain of attributes and subscripts begins with, and the keys up to the first one that
// only a render can know. It returns no name for anything else.
func pathOf(e expression) (*name, []string) {
	switch e := e.(type) {
	case *name:
		return e, []string{e.text}
	case *attribute:
		root, path := pathOf(e.object)
		if root == nil || e.called {
			return root, path
		}
		return root, extended(path, e.object, e.name)
	case *subscript:
		root, path := pathOf(e.object)
		key, ok := e.key.(*literal)
		if !ok {
			return root, path
		}
		text, ok := key.value.(string)
		if !ok {
			return root, path
		}
		return root, extended(path, e.object, text)
	}
	return nil, nil
}

// extended adds key when the path so far covers all of object.
func extended(path []string, object expression, key string) []string {
	length := 1
	for {
		switch link := object.(type) {
		case *attribute:
			object = link.object
		case *subscript:
			object = link.object
		default:
			if length == len(path) {
				return append(path, key)
			}
			return path
		}
		length++
	}
}

// provenBy lists the paths that are defined when test turned out to be outcome.
func provenBy(test expression, outcome bool) [][]string {
	switch test := test.(type) {
	case *negation:
		return provenBy(test.value, !outcome)
	case *logical:
		if outcome != test.or {
			return append(provenBy(test.left, outcome), provenBy(test.right, outcome)...)
		}
	case *applied: // no filter has such a name
		if test.function.name == "defined" && outcome || test.function.name == "undefined" && !outcome {
			if root, path := pathOf(test.value); root != nil {
				return [][]string{path}
			}
		}
	}
	return nil
}
