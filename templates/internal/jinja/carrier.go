package jinja

// An Outline receives the blocks of a program in source order. Open begins a
// block and its first body, Next begins each further body, and Close ends the
// block.
type Outline interface {
	Open()
	Next()
	Close()
}

// Outline reports the blocks of the program to o. Text, values and assignments
// are not reported.
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

// A Part is one body of a block, as the caller of [Program.Outline] parsed it.
// Carry executes the blocks of the body in their order. It calls [Walk.Block]
// once per block, with the parts of that block. An error of Carry ends the
// rendering.
type Part interface {
	Carry(*Walk) error
}

// A Walk is the state of one rendering for the caller that executes the blocks.
type Walk struct {
	// Place belongs to the caller. Render does not use it.
	Place any

	render *render
	rest   body // the statements that have not run yet. It begins with a block, or is empty.
	out    *builder
}

// program is a whole program as a part.
type program func(*Walk) error

func (carry program) Carry(w *Walk) error { return carry(w) }

// Block runs the next block and the statements up to the following block. parts
// are the bodies of the block in the order of the source. Block calls Carry
// once for each execution of a body.
func (w *Walk) Block(parts []Part) {
	next, out := w.rest[0], w.out
	w.rest = w.rest[1:]
	next.run(w.render, parts, out)
	w.rest = w.render.leaves(w.rest, out)
}

// leaves runs the statements before the first block and returns the rest.
func (r *render) leaves(statements body, out *builder) body {
	for i, one := range statements {
		if _, nested := one.(block); nested {
			return statements[i:]
		}
		one.run(r, nil, out)
	}
	return nil
}

// body runs statements. p executes the blocks among them.
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
