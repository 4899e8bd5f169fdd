package templates

import (
	"math"

	"github.com/flosch/pongo2/v6"
)

// maxWork bounds a render. One unit is about one operation on a small value, half an element of a list, or 16 bytes of
// text, so that no render takes much more than a second, or some hundred megabytes.
const maxWork = 1 << 24

// render is one execution of a template.
type render struct {
	template *Template
	vars     map[string]any
	context  *pongo2.ExecutionContext
	frame    *frame
	at       int // the byte offset of what is being done
	work     int
	depth    int // of macro calls
}

// frame holds the variables of the template or of one call of a macro.
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
	if n < 0 || length > MaxOutput-n {
		r.fail("the text is longer than %d bytes", MaxOutput)
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

// enter gives the scope's variables what they begin with.
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

// given returns what Render got under a name, or the function of that name.
func (r *render) given(name string) any {
	if value, ok := r.vars[name]; ok {
		return r.plain(value)
	}
	if global := r.template.library.globals[name]; global != nil {
		return global
	}
	return absent{}
}

func (r *render) body(p part, out output) {
	if err := p.Execute(r.context, out); err != nil {
		r.fail("%s", err.OrigError)
	}
}

// captured returns what a body writes.
func (r *render) captured(p part) string {
	b := r.builder()
	r.body(p, b)
	return b.String()
}

func (r *render) write(out output, s string) {
	r.grow(out.Len(), len(s))
	// Neither a bytes.Buffer nor a builder returns an error.
	_, _ = out.WriteString(s)
}

func (s *outputStatement) run(r *render, _ []part, out output) {
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.value == nil {
			r.write(out, p.text)
			continue
		}
		value := p.value.eval(r)
		r.at = p.at
		if text, ok := value.(string); ok {
			r.write(out, text)
		} else {
			r.write(out, r.str(value))
		}
	}
}

func (s *ifStatement) run(r *render, parts []part, out output) {
	r.charge(1)
	for i, test := range s.tests {
		if r.truth(test.eval(r)) {
			r.body(parts[i], out)
			return
		}
	}
	if len(parts) > len(s.tests) {
		r.body(parts[len(parts)-1], out)
	}
}

func (s *assignment) run(r *render, _ []part, _ output) {
	r.charge(1)
	value := s.value.eval(r)
	r.at = s.at
	s.target.assign(r, value)
}

func (s *capture) run(r *render, parts []part, _ output) {
	r.enter(s.scope)
	text := r.filteredText(s.filters, r.captured(parts[0]))
	r.at = s.at
	s.target.assign(r, text)
}

func (s *filterStatement) run(r *render, parts []part, out output) {
	r.enter(s.scope)
	value := r.filteredText(s.filters, r.captured(parts[0]))
	r.at = s.at
	r.write(out, r.str(value))
}

// filteredText applies a block's chain of filters to its text.
func (r *render) filteredText(filters expression, text string) any {
	if filters == nil {
		return text
	}
	f := filters.(*filtered)
	if f.value == nil {
		return f.apply(r, text)
	}
	return f.apply(r, r.filteredText(f.value, text))
}

func (s *withStatement) run(r *render, parts []part, out output) {
	values := r.evalAll(s.values)
	r.enter(s.scope)
	r.at = s.at
	for i, t := range s.targets {
		t.assign(r, values[i])
	}
	r.body(parts[0], out)
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
