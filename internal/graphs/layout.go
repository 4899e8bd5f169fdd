package graphs

import (
	"cmp"
	"slices"
	"unicode"
)

// Sizes of a drawing, in pixels.
const (
	margin      = 28.0
	cardGap     = 36.0
	layerGap    = 58.0
	laneGap     = 24.0
	titleSize   = 14.0
	lineSize    = 11.0
	lineStep    = 17.0
	headSize    = 46.0 // title and about
	minWidth    = 170.0
	momentWidth = 46.0
	labelGap    = 12.0 // between the start dot and its label
)

// A box is a card with its position.
type box struct {
	Card
	layer      int
	x, y, w, h float64
}

func (b *box) middle() float64 { return b.x + b.w/2 }

// A wire is an edge with its lane beside the boxes: 0 for a straight edge to
// the next layer, positive numbers on the right, negative numbers on the left.
type wire struct {
	Way
	lane int
}

func (w wire) left() bool { return w.lane < 0 }

// A layout has the positions of a drawing.
type layout struct {
	boxes         []box
	wires         []wire
	outs, ins     [][]int // the straight wires, by box
	left, right   float64 // the edges of the area with the boxes
	width, height float64
}

// layout puts each card into a layer below all its predecessors, except for
// edges that lead back. It draws every other edge beside the boxes.
func (g Graph) layout() *layout {
	l := &layout{}
	for _, c := range g.Cards {
		b := box{Card: c}
		b.w, b.h = b.size()
		l.boxes = append(l.boxes, b)
	}
	back := l.layers(g.Ways)
	l.place(g.Ways)
	l.lanes(g.Ways, back)
	if g.Whole != "" {
		l.width = max(l.width, l.boxes[0].middle()+labelGap+textWidth(g.Whole, lineSize)+margin)
	}
	return l
}

func (c Card) size() (w, h float64) {
	w = max(minWidth, textWidth(c.Title, titleSize)*1.1+28, textWidth(c.About, lineSize)+28)
	for _, line := range c.Lines {
		w = max(w, textWidth(line.Text, lineSize)+momentWidth+42)
	}
	h = headSize
	if len(c.Lines) > 0 {
		h += 10 + lineStep*float64(len(c.Lines))
	}
	return w, h
}

// textWidth estimates the width of a text in a common sans-serif face.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r > 0x2E80:
			w += 1.05
		case unicode.IsUpper(r) || r == 'm' || r == 'w' || r == '—':
			w += 0.72
		case r == 'i' || r == 'l' || r == '.' || r == ' ' || r == ',':
			w += 0.34
		default:
			w += 0.575
		}
	}
	return w * size
}

// layers computes the layer of every box and the set of back edges. A
// depth-first search marks every edge to a box on the current path as back
// edge. Reversed, the finishing order of the search is a topological order, so
// one pass finds the longest path to each box. Example: a → b → c → d with a →
// c and c → a has the layers 0, 1, 2, 3. The edge a → c is drawn to the right
// of the boxes, and c → a to the left.
func (l *layout) layers(edges []Way) map[Way]bool {
	out := make([][]Way, len(l.boxes))
	for _, e := range edges {
		out[e.From] = append(out[e.From], e)
	}
	back := map[Way]bool{}
	state := make([]int, len(l.boxes)) // 1: on the current path, 2: done
	var order []int
	var visit func(v int)
	visit = func(v int) {
		state[v] = 1
		for _, e := range out[v] {
			switch state[e.To] {
			case 0:
				visit(e.To)
			case 1:
				back[e] = true
			}
		}
		state[v] = 2
		order = append(order, v)
	}
	for v := range l.boxes {
		if state[v] == 0 {
			visit(v)
		}
	}
	for _, v := range slices.Backward(order) {
		for _, e := range out[v] {
			if !back[e] {
				l.boxes[e.To].layer = max(l.boxes[e.To].layer, l.boxes[v].layer+1)
			}
		}
	}
	return back
}

// place sets the position of every box. Layers go from top to bottom and are
// centred. The boxes of a layer are sorted by the position of their
// predecessors.
func (l *layout) place(edges []Way) {
	rows := map[int][]int{}
	last := 0
	for i, b := range l.boxes {
		rows[b.layer] = append(rows[b.layer], i)
		last = max(last, b.layer)
	}
	pull := make([]float64, len(l.boxes))   // the sum of the centres of the predecessors of a box
	weight := make([]float64, len(l.boxes)) // the number of predecessors; their mean is the best position
	rowWidth := func(row []int) float64 {
		w := cardGap * float64(len(row)-1)
		for _, i := range row {
			w += l.boxes[i].w
		}
		return w
	}
	widest := 0.0
	for _, row := range rows {
		widest = max(widest, rowWidth(row))
	}
	from := make([][]Way, len(l.boxes))
	for _, e := range edges {
		from[e.From] = append(from[e.From], e)
	}
	y := margin + 26
	for layer := 0; layer <= last; layer++ {
		row := rows[layer]
		slices.SortStableFunc(row, func(a, b int) int {
			if weight[a] == 0 || weight[b] == 0 {
				return 0
			}
			return cmp.Compare(pull[a]/weight[a], pull[b]/weight[b])
		})
		x, tallest := (widest-rowWidth(row))/2, 0.0
		for _, i := range row {
			b := &l.boxes[i]
			b.x, b.y = x, y
			x += b.w + cardGap
			tallest = max(tallest, b.h)
			for _, e := range from[i] {
				pull[e.To], weight[e.To] = pull[e.To]+b.middle(), weight[e.To]+1 // for later layers
			}
		}
		y += tallest + layerGap
	}
	l.left, l.right, l.height = 0, widest, y-layerGap+margin+22
}

// lanes assigns a lane to each edge that cannot be straight, short ones next to
// the boxes. It then shifts the drawing so that all of it is visible.
func (l *layout) lanes(edges []Way, back map[Way]bool) {
	for _, e := range edges {
		l.wires = append(l.wires, wire{Way: e})
	}
	var beside []int
	for i, w := range l.wires {
		if back[w.Way] || l.boxes[w.To].layer != l.boxes[w.From].layer+1 {
			beside = append(beside, i)
		}
	}
	span := func(i int) (top, bottom float64) {
		a, b := l.boxes[l.wires[i].From], l.boxes[l.wires[i].To]
		return min(a.y, b.y), max(a.y+a.h, b.y+b.h)
	}
	slices.SortStableFunc(beside, func(i, j int) int {
		a, b := span(i)
		c, d := span(j)
		return int((b - a) - (d - c))
	})
	used := map[int][][2]float64{}
	margins := [...]float64{margin, margin}
	for _, i := range beside {
		side, at := 1, 1
		if back[l.wires[i].Way] {
			side, at = -1, 0
		}
		top, bottom := span(i)
		lane := side
		for overlaps(used[lane], top, bottom) {
			lane += side
		}
		used[lane] = append(used[lane], [2]float64{top, bottom})
		l.wires[i].lane = lane
		need := laneGap*float64(lane*side) + margin
		if !l.upright(l.wires[i]) {
			need += textWidth(l.wires[i].Label, lineSize)
		}
		margins[at] = max(margins[at], need)
	}
	l.outs, l.ins = make([][]int, len(l.boxes)), make([][]int, len(l.boxes))
	for i, w := range l.wires {
		if w.lane == 0 {
			l.outs[w.From], l.ins[w.To] = append(l.outs[w.From], i), append(l.ins[w.To], i)
		}
	}
	for i := range l.boxes {
		l.boxes[i].x += margins[0]
	}
	l.left, l.right = l.left+margins[0], l.right+margins[0]
	l.width = l.right + margins[1]
}

// upright reports whether a wire beside the boxes is long enough for a vertical
// label.
func (l *layout) upright(w wire) bool {
	_, y1, y2 := l.beside(w)
	return max(y2-y1, y1-y2) > textWidth(w.Label, lineSize)+20
}

func overlaps(spans [][2]float64, top, bottom float64) bool {
	return slices.ContainsFunc(spans, func(s [2]float64) bool { return s[0] < bottom && top < s[1] })
}
