package jinja

// macro is a macro with the frame it was defined in.
type macro struct {
	statement *macroStatement
	body      Part
	frame     *frame
}

func (s *macroStatement) run(r *render, parts []Part, _ *builder) {
	r.charge(1)
	s.name.assign(r, &macro{s, parts[0], r.frame})
}

func (s *callStatement) run(r *render, parts []Part, out *builder) {
	callee := s.call.callee.eval(r)
	g := s.call.arguments.eval(r)
	r.at = s.call.at
	m, ok := r.defined(callee).(*macro)
	if !ok {
		r.fail("a call block takes a macro and not a %s", typeName(callee))
	}
	if m.statement.special[0] == nil {
		r.fail("the macro %q does not call its caller", m.statement.name.text)
	}
	g.keywords = append(g.keywords, entry{"caller", &macro{s.caller, parts[0], r.frame}})
	out.text(m.call(r, g))
}

// call runs the macro's body in a new frame and returns its output.
func (m *macro) call(r *render, g *given) string {
	if r.depth++; r.depth > maxDepth {
		r.fail("macros call each other deeper than %d", maxDepth)
	}
	defer func(caller *frame) { r.frame, r.depth = caller, r.depth-1 }(r.frame)
	s := m.statement
	r.charge(s.scope.function.slots)
	r.frame = &frame{slots: make([]any, s.scope.function.slots), outer: m.frame}
	r.enter(s.scope)
	m.bind(r, g)
	return r.captured(s.body, m.body)
}

// bind sets the macro's parameters, as Jinja2's Macro does.
func (m *macro) bind(r *render, g *given) {
	s := m.statement
	used := make([]bool, len(g.keywords))
	take := func(name string) (any, bool) {
		for i, k := range g.keywords {
			if k.key == name {
				used[i] = true
				return k.value, true
			}
		}
		return nil, false
	}
	// A default may read the parameters before it. Later parameters are still
	// absent.
	values := make([]any, len(s.parameters))
	for i, p := range s.parameters {
		values[i] = absent{}
		if i < len(g.positional) {
			values[i] = g.positional[i]
		} else if value, ok := take(p.name.text); ok {
			values[i] = value
		}
		p.name.assign(r, values[i])
	}
	for i, p := range s.parameters {
		if _, missing := values[i].(absent); !missing {
			continue
		}
		if p.defaultValue != nil {
			p.name.assign(r, p.defaultValue.eval(r))
		} else {
			message := "the macro's parameter " + quoted(p.name.text) + " was not given"
			p.name.assign(r, &undefined{at: p.name.at, message: message})
		}
	}
	m.bindSpecial(r, g, used, take)
}

// bindSpecial sets caller, kwargs and varargs, and rejects superfluous
// arguments.
func (m *macro) bindSpecial(r *render, g *given, used []bool, take func(string) (any, bool)) {
	s := m.statement
	if s.special[0] != nil {
		caller, ok := take("caller")
		if !ok || caller == nil {
			caller = &undefined{at: s.at, message: "the macro was not called by a call block: it has no caller"}
		}
		r.store(s.scope.place(s.special[0]), caller)
	}
	rest := newDict(0)
	for i, k := range g.keywords {
		if !used[i] {
			rest.set(r, k.key, k.value)
		}
	}
	switch {
	case s.special[1] != nil:
		r.store(s.scope.place(s.special[1]), rest)
	case len(rest.entries) > 0:
		r.fail("the macro %shas no parameter %q", m.label(), rest.entries[0].key)
	}
	extra := g.positional[min(len(s.parameters), len(g.positional)):]
	switch {
	case s.special[2] != nil:
		r.store(s.scope.place(s.special[2]), &tuple{items: extra})
	case len(extra) > 0:
		r.fail("the macro %stakes %s", m.label(), atMost(len(s.parameters)))
	}
}

func (m *macro) label() string {
	if m.statement.name == nil {
		return ""
	}
	return quoted(m.statement.name.text) + " "
}
