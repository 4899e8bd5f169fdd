package jinja

// An expression is a parsed part of a template that has a value. It has no
// state of its own.
type expression interface {
	eval(r *render) any
	// children visits the nested expressions in the order of the source.
	children(visit func(expression))
}

type (
	literal struct {
		value any
		at    int
	}

	// A name reads a variable. scopes.go resolves its scope.
	name struct {
		text  string
		at    int
		place place
	}

	attribute struct {
		object expression
		name   string
		at     int
		called bool // the attribute is the callee of a call
	}

	subscript struct {
		object, key expression
		at          int
	}

	slice struct {
		object            expression
		start, stop, step expression // each may be nil
		at                int
	}

	call struct {
		callee    expression
		arguments arguments
		at        int
	}

	// applied is a filter or a test (kind) on a value.
	applied struct {
		kind      string
		value     expression // nil: the text of the block
		function  *function
		arguments arguments
		at        int
	}

	negation struct{ value expression }

	// logical is `and` or `or`.
	logical struct {
		or          bool
		left, right expression
	}

	comparison struct {
		first expression
		rest  []comparand
	}

	comparand struct {
		operator string
		value    expression
		at       int
	}

	arithmetic struct {
		operator    string
		left, right expression
		at          int
	}

	signed struct {
		sign  string
		value expression
		at    int
	}

	concatenation struct {
		parts []expression
		at    int
	}

	conditional struct {
		test, then, otherwise expression // otherwise may be nil
		at                    int
	}

	tupleLiteral struct{ items []expression }

	listLiteral struct{ items []expression }

	dictLiteral struct {
		keys, values []expression
		at           int
	}
)

func (e *literal) eval(*render) any { return e.value }

func (e *name) eval(r *render) any {
	value := r.load(e.place)
	if _, ok := value.(absent); ok {
		return r.undefinedName(e)
	}
	return value
}

// Every expression with nested expressions charges for itself, so that a long
// expression in a loop uses the budget.

func (e *attribute) eval(r *render) any {
	r.charge(1)
	object := r.defined(e.object.eval(r))
	r.at = e.at
	value, ok := r.attribute(object, e.name)
	if !ok {
		return r.undefinedMember(e.object, object, e.name, e.at)
	}
	return value
}

func (e *subscript) eval(r *render) any {
	r.charge(1)
	object := r.defined(e.object.eval(r))
	key := e.key.eval(r)
	r.at = e.at
	value, ok := r.item(object, key)
	if !ok {
		return r.undefinedMember(e.object, object, key, e.at)
	}
	return value
}

func (e *slice) eval(r *render) any {
	r.charge(1)
	object := r.defined(e.object.eval(r))
	bounds := [3]*int64{}
	for i, part := range []expression{e.start, e.stop, e.step} {
		if part == nil {
			continue
		}
		value := r.defined(part.eval(r))
		r.at = e.at
		if value != nil {
			n := r.integer(value, "a slice's bound")
			bounds[i] = &n
		}
	}
	r.at = e.at
	return r.slice(object, bounds)
}

func (e *negation) eval(r *render) any {
	r.charge(1)
	return !r.truth(e.value.eval(r))
}

func (e *logical) eval(r *render) any {
	r.charge(1)
	left := e.left.eval(r)
	if r.truth(left) == e.or {
		return left
	}
	return e.right.eval(r)
}

func (e *comparison) eval(r *render) any {
	left := e.first.eval(r)
	for _, c := range e.rest {
		right := c.value.eval(r)
		r.at = c.at
		r.charge(1)
		if !r.compare(c.operator, left, right) {
			return false
		}
		left = right
	}
	return true
}

func (e *arithmetic) eval(r *render) any {
	r.charge(1)
	left := r.defined(e.left.eval(r))
	right := r.defined(e.right.eval(r))
	r.at = e.at
	return r.arithmetic(e.operator, left, right)
}

func (e *signed) eval(r *render) any {
	r.charge(1)
	value := r.defined(e.value.eval(r))
	r.at = e.at
	return r.signed(e.sign, value)
}

func (e *concatenation) eval(r *render) any {
	b := r.builder()
	for _, part := range e.parts {
		value := part.eval(r)
		r.at = e.at
		b.value(value)
	}
	return b.String()
}

func (e *conditional) eval(r *render) any {
	r.charge(1)
	switch {
	case r.truth(e.test.eval(r)):
		return e.then.eval(r)
	case e.otherwise != nil:
		return e.otherwise.eval(r)
	}
	return &undefined{at: e.at, lenient: true, message: "the conditional expression is false and has no else"}
}

func (e *tupleLiteral) eval(r *render) any { return &tuple{items: r.evalAll(e.items)} }

func (e *listLiteral) eval(r *render) any { return r.evalAll(e.items) }

func (e *dictLiteral) eval(r *render) any {
	d := newDict(len(e.keys))
	r.charge(1)
	for i := range e.keys {
		key, value := e.keys[i].eval(r), e.values[i].eval(r)
		r.at = e.at
		d.set(r, key, value)
	}
	return d
}

func (r *render) evalAll(expressions []expression) []any {
	r.charge(2 + 2*len(expressions))
	values := make([]any, len(expressions))
	for i, e := range expressions {
		values[i] = e.eval(r)
	}
	return values
}

func (e *literal) children(func(expression)) {}
func (e *name) children(func(expression))    {}

func (e *attribute) children(visit func(expression)) { visit(e.object) }

func (e *subscript) children(visit func(expression)) { visit(e.object); visit(e.key) }

func (e *slice) children(visit func(expression)) {
	visit(e.object)
	for _, part := range []expression{e.start, e.stop, e.step} {
		if part != nil {
			visit(part)
		}
	}
}

func (e *call) children(visit func(expression)) {
	visit(e.callee)
	e.arguments.children(visit)
}

func (e *applied) children(visit func(expression)) {
	if e.value != nil {
		visit(e.value)
	}
	e.arguments.children(visit)
}

func (e *negation) children(visit func(expression)) { visit(e.value) }
func (e *logical) children(visit func(expression))  { visit(e.left); visit(e.right) }

func (e *comparison) children(visit func(expression)) {
	visit(e.first)
	for _, c := range e.rest {
		visit(c.value)
	}
}

func (e *arithmetic) children(visit func(expression)) { visit(e.left); visit(e.right) }
func (e *signed) children(visit func(expression))     { visit(e.value) }

func (e *concatenation) children(visit func(expression)) { visitAll(e.parts, visit) }

func (e *conditional) children(visit func(expression)) {
	visit(e.test)
	visit(e.then)
	if e.otherwise != nil {
		visit(e.otherwise)
	}
}

func (e *tupleLiteral) children(visit func(expression)) { visitAll(e.items, visit) }
func (e *listLiteral) children(visit func(expression))  { visitAll(e.items, visit) }

func (e *dictLiteral) children(visit func(expression)) {
	for i := range e.keys {
		visit(e.keys[i])
		visit(e.values[i])
	}
}

func visitAll(expressions []expression, visit func(expression)) {
	for _, e := range expressions {
		visit(e)
	}
}
