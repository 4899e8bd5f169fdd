package jinja

// nest carries a body in plain Go: a carrier need be no more than this.
type nest struct {
	blocks [][]Part // of each block its bodies, each a *nest
}

func (n *nest) Carry(w *Walk) error {
	for _, bodies := range n.blocks {
		w.Block(bodies)
	}
	return nil
}

// nesting builds a tree of the blocks that it receives. The last element is the
// open body.
type nesting []*nest

func (o *nesting) Open() {
	outside := (*o)[len(*o)-1]
	outside.blocks = append(outside.blocks, nil)
	o.begin(outside)
}

func (o *nesting) Next() {
	o.Close()
	o.begin((*o)[len(*o)-1])
}

func (o *nesting) Close() { *o = (*o)[:len(*o)-1] }

func (o *nesting) begin(outside *nest) {
	inside := &nest{}
	last := &outside.blocks[len(outside.blocks)-1]
	*last = append(*last, inside)
	*o = append(*o, inside)
}

func rendered(source string, vars map[string]any) (string, error) {
	program, err := Parse(source)
	if err != nil {
		return "", err
	}
	whole := &nest{}
	program.Outline(&nesting{whole})
	return program.Render(vars, whole.Carry)
}
