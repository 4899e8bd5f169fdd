package jinja

// An Outline is told the blocks of a program in the order of its source: Open where a block begins and with it its first
// body, Next where another body of it begins, Close where it ends.
type Outline interface {
	Open()
	Next()
	Close()
}

// Outline tells o the blocks of the program; of one that has no blocks it tells nothing. Text, values and assignments are
// no blocks: they stand between them.
func (p *Program) Outline(o Outline) { outline(p.statements, o) }

func outline(statements body, o Outline) {
	for _, one := range statements {
		nested, ok := one.(block)
		if !ok {
			continue
		}
		o.Open()
		for i, inner := range nested.bodies() {
			if i > 0 {
				o.Next()
			}
			outline(inner, o)
		}
		o.Close()
	}
}

// A Part is one body of a block, in the hands of who carries the blocks. Carry walks the blocks that stand in it, in
// their order, and calls [Walk.Block] at each with that block's own parts; its error ends the rendering.
type Part interface {
	Carry(*Walk) error
}

// A Walk is one rendering as who carries the blocks sees it.
type Walk struct {
	// Place is the carrier's own: Render neither reads nor writes it.
	Place any

	render *render
	rest   body // what of the body has not run yet: it begins with a block, or is empty
	out    *builder
}

// program is the carrying of a whole program as a part.
type program func(*Walk) error

func (carry program) Carry(w *Walk) error { return carry(w) }

// Block runs the block that is next, and all that stands between it and the one after it. parts are its bodies in the
// order of the source: it has each carried as often as it wants it, or never.
func (w *Walk) Block(parts []Part) {
	next, out := w.rest[0], w.out
	w.rest = w.rest[1:]
	next.run(w.render, parts, out)
	w.rest = w.render.leaves(w.rest, out)
}

// leaves runs the statements up to the first block and returns the rest.
func (r *render) leaves(statements body, out *builder) body {
	for i, one := range statements {
		if _, nested := one.(block); nested {
			return statements[i:]
		}
		one.run(r, nil, out)
	}
	return nil
}

// body runs statements, and has p carry the blocks among them.
func (r *render) body(statements body, p Part, out *builder) {
	rest := r.leaves(statements, out)
	if len(rest) == 0 {
		return
	}
	outerRest, outerOut := r.walk.rest, r.walk.out
	r.walk.rest, r.walk.out = rest, out
	if err := p.Carry(&r.walk); err != nil {
		r.fail("%s", err)
	}
	r.walk.rest, r.walk.out = outerRest, outerOut
}
