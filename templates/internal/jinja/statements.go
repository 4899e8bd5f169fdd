package jinja

// A statement renders a tag, or a text with its values. A block receives its
// bodies as parts, for the caller that executes them. Other statements receive
// none.
type statement interface {
	run(r *render, parts []Part, out *builder)
}

// A block is a statement that contains other statements.
type block interface {
	statement
	bodies() []body
}

// body is a run of statements, parsed.
type body []statement

// outputStatement writes text and values, in order.
type outputStatement struct {
	pieces []piece
}

// piece is a text, or an expression when value is not nil.
type piece struct {
	text  string
	value expression
	at    int
}

// ifStatement has one body for every test, and one for else.
type ifStatement struct {
	tests    []expression
	branches []body
}

// forStatement has a body and perhaps an else.
type forStatement struct {
	target    target
	source    expression
	filter    expression // the inline if, or nil
	body      body
	otherwise body
	hasElse   bool
	recursive bool // loop(…) runs the body over other values, in a new frame each time
	at        int
	scope     *scope
	elseScope *scope
	loop      *variable // the loop's own, when the body reads it
	// The target of the inline "if" has its own variables: the condition runs
	// ahead of the body if the body reads loop.last.
	filterTarget target
	filterScope  *scope
}

// assignment is {% set target = value %}.
type assignment struct {
	target target
	value  expression
	at     int
}

// capture is {% set target %}…{% endset %}; filters is applied to the text when it is not nil.
type capture struct {
	target  target
	filters expression
	body    body
	at      int
	scope   *scope
}

// withStatement is {% with a = 1 %}…{% endwith %}.
type withStatement struct {
	targets []target
	values  []expression
	body    body
	at      int
	scope   *scope
}

// filterStatement is {% filter upper %}…{% endfilter %}.
type filterStatement struct {
	filters expression
	body    body
	at      int
	scope   *scope
}

// macroStatement is {% macro name(parameters) %}…{% endmacro %}; the anonymous one of a call block has no name.
type macroStatement struct {
	name       *name
	parameters []parameter
	body       body
	at         int
	scope      *scope
	special    [3]*variable // caller, kwargs, varargs, when the body reads them
}

type parameter struct {
	name         *name
	defaultValue expression
}

// callStatement is {% call(parameters) callee(arguments) %}…{% endcall %}.
type callStatement struct {
	caller *macroStatement
	call   *call
}

func (s *ifStatement) bodies() []body     { return s.branches }
func (s *capture) bodies() []body         { return []body{s.body} }
func (s *withStatement) bodies() []body   { return []body{s.body} }
func (s *filterStatement) bodies() []body { return []body{s.body} }
func (s *macroStatement) bodies() []body  { return []body{s.body} }
func (s *callStatement) bodies() []body   { return []body{s.caller.body} }

func (s *forStatement) bodies() []body {
	if s.hasElse {
		return []body{s.body, s.otherwise}
	}
	return []body{s.body}
}

// A target is the left side of an assignment.
type target interface {
	assign(r *render, value any)
	names(visit func(*name))
}

// tupleTarget unpacks.
type tupleTarget struct {
	targets []target
	at      int
}

// memberTarget is an attribute of a namespace.
type memberTarget struct {
	object *name
	member string
	at     int
}

func (n *name) names(visit func(*name)) { visit(n) }

func (t *memberTarget) names(func(*name)) {}

func (t *tupleTarget) names(visit func(*name)) {
	for _, inner := range t.targets {
		inner.names(visit)
	}
}

// copied returns t with names that can get places of their own.
func copied(t target) target {
	switch t := t.(type) {
	case *name:
		return &name{text: t.text, at: t.at}
	case *tupleTarget:
		inner := make([]target, len(t.targets))
		for i := range t.targets {
			inner[i] = copied(t.targets[i])
		}
		return &tupleTarget{inner, t.at}
	}
	return t
}

func bodiesOf(one statement) []body {
	if b, ok := one.(block); ok {
		return b.bodies()
	}
	return nil
}
