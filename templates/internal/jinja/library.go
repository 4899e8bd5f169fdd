package jinja

import (
	"maps"
	"slices"
	"sync"
)

// library has the functions that a template can call.
type library struct {
	filters, tests, globals map[string]*function
	methods                 map[string]map[string]*function // by Python's name of the type
}

// standard returns the only library. Filters such as map look up other filters
// in the library, hence it is built at its first use.
var standard = sync.OnceValue(func() *library {
	l := &library{
		filters: byName(slices.Concat(textFilters(), numberFilters(), listFilters(), selectionFilters())),
		tests:   byName(tests()), globals: byName(globals()),
		methods: map[string]map[string]*function{},
	}
	alias(l.filters, "d", "default")
	alias(l.filters, "e", "escape")
	alias(l.filters, "count", "length")
	for other, name := range testAliases {
		alias(l.tests, other, name)
	}
	for kind, list := range methods() {
		l.methods[kind] = byName(list)
	}
	return l
})

func byName(list []*function) map[string]*function {
	functions := make(map[string]*function, len(list))
	for _, f := range list {
		functions[f.name] = f
	}
	return functions
}

func alias(functions map[string]*function, other, name string) {
	functions[other] = functions[name]
}

var refusedFilters = map[string]string{
	"random":         "its result would differ from run to run",
	"pprint":         "use tojson(indent=2)",
	"urlize":         "it makes HTML",
	"xmlattr":        "it makes HTML",
	"wordwrap":       "a tool can format the text",
	"filesizeformat": "divide the number, and use round",
	"include":        "a template cannot reach other files",
	"date":           "format the text where it is made",
	"now":            "its result would differ from run to run",
	"lorem":          "its result would differ from run to run",
}

func (l *library) filter(name string, at int) *function {
	if f := l.filters[name]; f != nil {
		return f
	}
	if reason, ok := refusedFilters[name]; ok {
		failAt(at, "the filter %q is not supported: %s", name, reason)
	}
	failNear(at, name, slices.Collect(maps.Keys(l.filters)), "unknown filter %q", name)
	return nil
}

func (l *library) test(name string, at int) *function {
	if f := l.tests[name]; f != nil {
		return f
	}
	failNear(at, name, slices.Collect(maps.Keys(l.tests)), "unknown test %q", name)
	return nil
}

// checkFilter rejects, at load, arguments with which every call of the filter
// fails.
func (l *library) checkFilter(f *applied) {
	checkArguments(f.function, f.kind, &f.arguments, f.at)
	a := f.arguments.positional
	switch f.function.name {
	case "map":
		l.checkNamed(a, 0, l.filter)
	case "select", "reject":
		l.checkNamed(a, 0, l.test)
	case "selectattr", "rejectattr":
		l.checkNamed(a, 1, l.test)
	}
}

// checkNamed looks up the filter or test whose name is the argument at position i.
func (l *library) checkNamed(a []expression, i int, find func(string, int) *function) {
	if i >= len(a) {
		return
	}
	if named, ok := a[i].(*literal); ok {
		if name, ok := named.value.(string); ok {
			find(name, named.at)
		}
	}
}

func (l *library) isGlobal(name string) bool { return l.globals[name] != nil }

// callables lists the functions that could be meant where an unknown one is called.
func (l *library) callables(s *scope) []string {
	names := slices.Collect(maps.Keys(l.globals))
	for ; s != nil; s = s.parent {
		for _, v := range s.variables {
			if v.origin != fromCaller {
				names = append(names, v.name)
			}
		}
	}
	return names
}

func (l *library) method(kind, name string) *function { return l.methods[kind][name] }

// checkMethod refuses the call of a method that no type has here.
func (l *library) checkMethod(a *attribute) {
	for _, methods := range l.methods {
		if methods[a.name] != nil {
			return
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(refusedMembers)) {
		if slices.Contains(refusedMembers[kind], a.name) {
			failAt(a.at, "the method %q of %s is not supported%s", a.name, kind, insteadOf(a.name))
		}
	}
	var names []string
	for _, methods := range l.methods {
		names = append(names, slices.Collect(maps.Keys(methods))...)
	}
	failNear(a.at, a.name, names, "unknown method %q", a.name)
}

func insteadOf(method string) string {
	switch method {
	case "append", "insert", "extend":
		return ": a template changes no value; add lists with +"
	case "update", "setdefault":
		return ": a template changes no value; make a new one with dict(old, key=value)"
	case "pop", "popitem", "clear", "remove", "reverse", "sort":
		return ": a template changes no value"
	}
	return ""
}

// checkKey rejects data.items and similar names. In Jinja2 they are the method,
// not the key, and no template wants that.
func (l *library) checkKey(a *attribute) {
	if a.called {
		return
	}
	if l.methods["dict"][a.name] != nil || slices.Contains(refusedMembers["dict"], a.name) {
		failAt(a.at, "%q is a method of dicts: write [%q] for the key, or %s() to call it", a.name, a.name, a.name)
	}
}

// refusedMembers are members of Python's types that templates do not support.
// They are listed so that they do not count as missing.
var refusedMembers = map[string][]string{
	"str":    {"encode", "format_map", "isidentifier", "isprintable", "maketrans", "translate"},
	"list":   {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"},
	"dict":   {"clear", "fromkeys", "pop", "popitem", "setdefault", "update"},
	"int":    {"as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "imag", "numerator", "real", "to_bytes"},
	"bool":   {"as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "imag", "numerator", "real", "to_bytes"},
	"float":  {"as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "real"},
	"range":  {"count", "index", "start", "step", "stop"},
	"cycler": {"items", "pos"},

	"dict_keys":   {"isdisjoint", "mapping"},
	"dict_values": {"mapping"},
	"dict_items":  {"isdisjoint", "mapping"},
	"generator":   {"close", "send", "throw", "gi_code", "gi_frame", "gi_running", "gi_suspended", "gi_yieldfrom"},
	"LoopContext": {"undefined"},
}

func globals() []*function {
	return []*function{
		define("range", "*", makeRange),
		define("cycler", "*", makeCycler),
		define("joiner", "sep=',␠'", makeJoiner),
		{name: "dict", open: func(r *render, _ any, g *given) any { return makeDict(r, g) }},
		{name: "namespace", open: func(r *render, _ any, g *given) any { return &namespace{makeDict(r, g)} }},
	}
}

// Filters are the names of all filters, sorted.
func Filters() []string { return slices.Sorted(maps.Keys(standard().filters)) }

// Tests returns the names of all tests, sorted, without operators.
func Tests() []string {
	names := slices.Sorted(maps.Keys(standard().tests))
	return slices.DeleteFunc(names, func(name string) bool { return name[0] < 'a' })
}
