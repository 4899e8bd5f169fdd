package jinja

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// arguments are the parsed arguments of a call, a filter or a test.
type arguments struct {
	positional            []expression
	keywords              []keyword
	spread, keywordSpread expression // *values and **dict, or nil
}

type keyword struct {
	name  string
	value expression
	at    int
}

func (a *arguments) children(visit func(expression)) {
	visitAll(a.positional, visit)
	for _, k := range a.keywords {
		visit(k.value)
	}
	if a.spread != nil {
		visit(a.spread)
	}
	if a.keywordSpread != nil {
		visit(a.keywordSpread)
	}
}

// given are the evaluated arguments. The keys of keywords are strings.
type given struct {
	positional []any
	keywords   []entry
}

func (a *arguments) eval(r *render) *given {
	g := &given{positional: r.evalAll(a.positional)}
	if a.spread != nil {
		g.positional = append(g.positional, r.all(r.defined(a.spread.eval(r)))...)
	}
	for _, k := range a.keywords {
		r.charge(1)
		g.keywords = append(g.keywords, entry{k.name, k.value.eval(r)})
	}
	if a.keywordSpread != nil {
		g.addKeywords(r, r.defined(a.keywordSpread.eval(r)))
	}
	return g
}

func (g *given) addKeywords(r *render, v any) {
	if !isMapping(v) {
		r.fail("** takes a dict and not a %s", typeName(v))
	}
	for _, e := range r.entries(v) {
		name, ok := text(e.key)
		if !ok {
			r.fail("the keys of a dict behind ** must be strings")
		}
		if _, twice := g.keyword(name); twice {
			r.fail("the argument %q is given twice", name)
		}
		g.keywords = append(g.keywords, entry{name, e.value})
	}
}

func (g *given) keyword(name string) (any, bool) {
	for _, k := range g.keywords {
		if k.key == name {
			return k.value, true
		}
	}
	return nil, false
}

// A function is a filter, a test, a method or a global, with its parameters as Jinja2 names them.
type function struct {
	name       string
	parameters []formal
	variadic   bool // accepts any number of values
	// call receives the value before the filter (nil for a global) and one
	// value per parameter, then the variadic values.
	call func(r *render, self any, a []any) any
	// open is called instead of call if the function reads its arguments
	// itself.
	open func(r *render, self any, g *given) any
	// toleratesUndefined is true for functions that test whether a value is
	// defined.
	toleratesUndefined bool
}

type formal struct {
	name         string
	required     bool
	defaultValue any
}

// define returns a function. signature lists its parameters, such as "width=80
// end='...' *".
func define(name, signature string, call func(r *render, self any, a []any) any) *function {
	f := &function{name: name, call: call}
	for word := range strings.FieldsSeq(signature) {
		if word == "*" {
			f.variadic = true
			continue
		}
		parameter, written, optional := strings.Cut(word, "=")
		f.parameters = append(f.parameters, formal{parameter, !optional, constant(written)})
	}
	return f
}

// constant parses a default value of a signature.
func constant(s string) any {
	switch s {
	case "", "none":
		return nil
	case "true", "false":
		return s == "true"
	}
	if s[0] == '\'' {
		return strings.ReplaceAll(strings.Trim(s, "'"), "␠", " ")
	}
	if strings.Contains(s, ".") {
		f, _ := strconv.ParseFloat(s, 64)
		return f
	}
	i, _ := strconv.ParseInt(s, 10, 64)
	return i
}

// bind assigns a value to each parameter of f. It fails at the position of the
// call, or of a keyword in written.
func (f *function) bind(kind string, g *given, at int, written ...keyword) []any {
	if len(g.positional) > len(f.parameters) && !f.variadic {
		failAt(at, "%s %q takes %s", kind, f.name, atMost(len(f.parameters)))
	}
	of := func(name string) int {
		if i := slices.IndexFunc(written, func(k keyword) bool { return k.name == name }); i >= 0 {
			return written[i].at
		}
		return at
	}
	for _, k := range g.keywords {
		if name := k.key.(string); !slices.ContainsFunc(f.parameters, func(p formal) bool { return p.name == name }) {
			var names []string
			for _, p := range f.parameters {
				names = append(names, p.name)
			}
			failNear(of(name), name, names, "%s %q has no argument %q", kind, f.name, name)
		}
	}
	values := make([]any, 0, max(len(f.parameters), len(g.positional)))
	for i, p := range f.parameters {
		named, byName := g.keyword(p.name)
		switch {
		case i < len(g.positional) && byName:
			failAt(of(p.name), "the argument %q of %s %q is given twice", p.name, kind, f.name)
		case i < len(g.positional):
			values = append(values, g.positional[i])
		case byName:
			values = append(values, named)
		case p.required:
			failAt(at, "%s %q needs the argument %q", kind, f.name, p.name)
		default:
			values = append(values, p.defaultValue)
		}
	}
	if len(g.positional) > len(f.parameters) {
		values = append(values, g.positional[len(f.parameters):]...)
	}
	return values
}

func atMost(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "at most 1 argument"
	}
	return fmt.Sprintf("at most %d arguments", n)
}

// checkArguments rejects arguments at parse time that bind would reject in
// every call.
func checkArguments(f *function, kind string, a *arguments, at int) {
	if f.open != nil || a.spread != nil || a.keywordSpread != nil {
		return
	}
	g := &given{positional: make([]any, len(a.positional))}
	for _, k := range a.keywords {
		g.keywords = append(g.keywords, entry{key: k.name})
	}
	f.bind(kind, g, at, a.keywords...)
}

// invoke calls f with the value self.
func (f *function) invoke(r *render, kind string, self any, g *given) any {
	if f.open != nil {
		return f.open(r, self, g)
	}
	return f.call(r, self, f.bind(kind, g, r.at))
}

func (e *applied) eval(r *render) any { return e.apply(r, e.value.eval(r)) }

// apply applies the filter or the test to a value.
func (e *applied) apply(r *render, value any) any {
	r.charge(2)
	g := e.arguments.eval(r)
	r.at = e.at
	return e.function.invoke(r, e.kind, value, g)
}

func (e *call) eval(r *render) any {
	r.charge(2)
	callee := e.callee.eval(r)
	g := e.arguments.eval(r)
	r.at = e.at
	return r.call(callee, g)
}

// call calls a value.
func (r *render) call(callee any, g *given) any {
	switch callee := r.defined(callee).(type) {
	case *bound:
		return callee.method.invoke(r, "method", callee.receiver, g)
	case *function:
		return callee.invoke(r, "function", nil, g)
	case *macro:
		return callee.call(r, g)
	case *joiner:
		if len(g.positional)+len(g.keywords) > 0 {
			r.fail("a joiner takes no arguments")
		}
		return callee.call()
	case *loop:
		return callee.call(r, g)
	}
	r.fail("a %s cannot be called", typeName(callee))
	return nil
}
