package jinja

import (
	"math"
	"strings"
)

// maxWork limits the work of a render. One unit is an operation on a small
// value, half an element of a list, or 16 bytes of text. A render therefore
// takes little more than a second and some hundred megabytes.
const maxWork = 1 << 24

// render is one execution of a template.
type render struct {
	program *Program
	vars    map[string]any
	walk    Walk
	frame   *frame
	at      int // the byte offset of the current expression
	work    int
	depth   int // of macro calls
}

// frame holds the variables of the template or of a macro call.
type frame struct {
	slots []any
	outer *frame // the frame the macro was defined in
}

// absent fills the slot of a variable without a value.
type absent struct{}

func (r *render) fail(format string, args ...any) {
	failAt(r.at, format, args...)
}

func (r *render) charge(units int) {
	if r.work += units; units < 0 || r.work > maxWork {
		r.fail("the template does too much: it exceeds the work a render may do")
	}
}

// scan charges for reading n bytes.
func (r *render) scan(n int) { r.charge(n/16 + 1) }

// grow charges for n bytes that are added to a text of length bytes.
func (r *render) grow(length, n int) {
	if n < 0 || length > maxOutput-n {
		r.fail("the text is longer than %d bytes", maxOutput)
	}
	r.charge(n/16 + 1)
}

// list charges for a list of n elements before it is made.
func (r *render) list(n int) {
	if n > math.MaxInt/4 {
		n = math.MaxInt / 4
	}
	r.charge(2 * n)
}

func (r *render) frameAt(hops int) *frame {
	f := r.frame
	for ; hops > 0; hops-- {
		f = f.outer
	}
	return f
}

func (r *render) load(p place) any { return r.frameAt(p.hops).slots[p.slot] }

func (r *render) store(p place, value any) { r.frameAt(p.hops).slots[p.slot] = value }

// enter sets the initial values of the scope's variables.
func (r *render) enter(s *scope) {
	r.charge(1 + len(s.variables))
	for _, v := range s.variables {
		slot := &r.frame.slots[v.slot]
		switch v.origin {
		case fromNowhere:
			*slot = absent{}
		case fromOuter:
			*slot = r.load(s.place(v.outer))
		case fromCaller:
			r.at = v.at
			*slot = r.given(v.name)
		}
	}
}

// given returns the value that Render received for a name, or the function of
// that name.
func (r *render) given(name string) any {
	if value, ok := r.vars[name]; ok {
		return r.plain(value)
	}
	if global := r.program.library.globals[name]; global != nil {
		return global
	}
	return absent{}
}

// captured returns the output of a body.
func (r *render) captured(statements body, p Part) string {
	b := r.builder()
	r.body(statements, p, b)
	return b.String()
}

func (s *outputStatement) run(r *render, _ []Part, out *builder) {
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.value == nil {
			out.text(p.text)
			continue
		}
		value := p.value.eval(r)
		r.at = p.at
		out.value(value)
	}
}

func (s *ifStatement) run(r *render, parts []Part, out *builder) {
	r.charge(1)
	for i, test := range s.tests {
		if r.truth(test.eval(r)) {
			r.body(s.branches[i], parts[i], out)
			return
		}
	}
	if last := len(s.tests); last < len(s.branches) {
		r.body(s.branches[last], parts[last], out)
	}
}

func (s *assignment) run(r *render, _ []Part, _ *builder) {
	r.charge(1)
	value := s.value.eval(r)
	r.at = s.at
	s.target.assign(r, value)
}

func (s *capture) run(r *render, parts []Part, _ *builder) {
	r.enter(s.scope)
	text := r.filteredText(s.filters, r.captured(s.body, parts[0]))
	r.at = s.at
	s.target.assign(r, text)
}

func (s *filterStatement) run(r *render, parts []Part, out *builder) {
	r.enter(s.scope)
	value := r.filteredText(s.filters, r.captured(s.body, parts[0]))
	r.at = s.at
	out.value(value)
}

// filteredText applies a block's chain of filters to its text.
func (r *render) filteredText(filters expression, text string) any {
	if filters == nil {
		return text
	}
	f := filters.(*applied)
	if f.value == nil {
		return f.apply(r, text)
	}
	return f.apply(r, r.filteredText(f.value, text))
}

func (s *withStatement) run(r *render, parts []Part, out *builder) {
	values := r.evalAll(s.values)
	r.enter(s.scope)
	r.at = s.at
	for i, t := range s.targets {
		t.assign(r, values[i])
	}
	r.body(s.body, parts[0], out)
}

func (n *name) assign(r *render, value any) { r.store(n.place, value) }

func (t *tupleTarget) assign(r *render, value any) {
	r.at = t.at
	items := r.iterate(value)
	for i, inner := range t.targets {
		item, ok := items.next()
		if !ok {
			r.fail("not enough values to unpack: %d expected, %d found", len(t.targets), i)
		}
		inner.assign(r, item)
	}
	if _, more := items.next(); more {
		r.fail("too many values to unpack: %d expected", len(t.targets))
	}
}

func (t *memberTarget) assign(r *render, value any) {
	r.at = t.at
	ns, ok := t.object.eval(r).(*namespace)
	if !ok {
		r.fail("only the attributes of a namespace can be set")
	}
	ns.set(r, t.member, value)
}

// builder makes a string that counts against the limits of its render. It also is the output of a body.
type builder struct {
	strings.Builder
	render *render
}

func (r *render) builder() *builder { return &builder{render: r} }

// text appends s.
func (b *builder) text(s string) {
	b.render.grow(b.Len(), len(s))
	b.WriteString(s)
}

// value appends str(v).
func (b *builder) value(v any) {
	switch v := v.(type) {
	case string:
		b.text(v)
	case []any, *tuple, map[string]any, *dict:
		b.repr(v, 0)
	default:
		b.text(b.render.str(v))
	}
}
