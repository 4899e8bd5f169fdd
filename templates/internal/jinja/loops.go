package jinja

func (s *forStatement) run(r *render, parts []Part, out *builder) {
	(&looping{s, parts, r.frame}).over(r, s.source.eval(r), out, 0)
}

// looping is a for statement with its frame. A recursive loop needs both to
// begin again.
type looping struct {
	*forStatement
	parts []Part
	frame *frame
}

// again is loop(source): it returns the output of the body for other values,
// one level deeper.
func (s *looping) again(r *render, source any, depth int) string {
	if r.depth++; r.depth > maxDepth {
		r.fail("a loop calls itself deeper than %d", maxDepth)
	}
	defer func(caller *frame) { r.frame, r.depth = caller, r.depth-1 }(r.frame)
	b := r.builder()
	s.over(r, source, b, depth)
	return b.String()
}

func (s *looping) over(r *render, source any, out *builder, depth int) {
	if s.recursive {
		defer func(outside *frame) { r.frame = outside }(r.frame)
		r.charge(s.scope.function.slots)
		r.frame = &frame{slots: make([]any, s.scope.function.slots), outer: s.frame}
	}
	r.at = s.at
	items := r.iterate(source)
	length, sized := -1, false
	if s.filter != nil {
		items = s.filteredItems(r, items)
	} else if _, generator := source.(*iterator); !generator {
		length, sized = r.length(source)
	}
	state := &loop{of: s, depth: depth, items: items, size: length, sized: sized}
	for state.advance(r) {
		r.at = s.at
		s.target.assign(r, state.current)
		if s.loop != nil {
			r.store(s.scope.place(s.loop), state)
		}
		r.enter(s.scope)
		r.body(s.body, s.parts[0], out)
	}
	if s.hasElse && state.index < 0 {
		r.enter(s.elseScope)
		r.body(s.otherwise, s.parts[1], out)
	}
}

// filteredItems applies the inline "if" to each element when the loop reads the
// element.
func (s *forStatement) filteredItems(r *render, items *iterator) *iterator {
	own := r.frame
	return r.over(items, func() (any, bool) {
		// A macro that was handed the loop may be the one to ask.
		defer func(asking *frame) { r.frame = asking }(r.frame)
		r.frame = own
		for {
			item, ok := items.next()
			if !ok {
				return nil, false
			}
			r.charge(1)
			s.filterTarget.assign(r, item)
			r.enter(s.filterScope)
			if r.truth(s.filter.eval(r)) {
				return item, true
			}
		}
	})
}

// loop is the variable of that name in a loop's body.
type loop struct {
	of                *looping
	depth             int
	items             *iterator
	size              int
	sized             bool
	index             int // of the current element, counted from 0
	started           bool
	previous, current any
	ahead             any // the next element, when peeked
	peeked, ended     bool
	changes           *tuple // what changed() saw last
}

func (l *loop) advance(r *render) bool {
	if !l.started {
		l.index, l.started = -1, true
	}
	next, ok := l.peek()
	if !ok {
		return false
	}
	r.charge(2)
	l.peeked = false
	l.index++
	l.previous, l.current = l.current, next
	return true
}

func (l *loop) peek() (any, bool) {
	if !l.peeked && !l.ended {
		next, ok := l.items.next()
		l.ahead, l.peeked, l.ended = next, ok, !ok
	}
	return l.ahead, l.peeked
}

// length reads a generator to its end to count it, as Jinja2 does.
func (l *loop) length(r *render) int {
	if !l.sized {
		var rest []any
		if l.peeked {
			rest = append(rest, l.ahead)
		}
		rest = append(rest, r.all(l.items)...)
		l.size, l.sized = l.index+1+len(rest), true
		l.items, l.peeked, l.ended = &iterator{items: rest}, false, false
	}
	return l.size
}

func (l *loop) attribute(r *render, name string) (any, bool) {
	switch name {
	case "index":
		return int64(l.index + 1), true
	case "index0":
		return int64(l.index), true
	case "revindex":
		return int64(l.length(r) - l.index), true
	case "revindex0":
		return int64(l.length(r) - l.index - 1), true
	case "length":
		return int64(l.length(r)), true
	case "first":
		return l.index == 0, true
	case "last":
		_, more := l.peek()
		return !more, true
	case "depth":
		return int64(l.depth + 1), true
	case "depth0":
		return int64(l.depth), true
	case "previtem":
		if l.index == 0 {
			return &undefined{at: r.at, message: "there is no previous item"}, true
		}
		return l.previous, true
	case "nextitem":
		next, ok := l.peek()
		if !ok {
			return &undefined{at: r.at, message: "there is no next item"}, true
		}
		return next, true
	}
	if method := r.program.library.method("LoopContext", name); method != nil {
		return &bound{l, method}, true
	}
	return nil, false
}

// call is loop(values) in a recursive loop.
func (l *loop) call(r *render, g *given) string {
	if !l.of.recursive {
		r.fail("only a recursive loop can be called: write {%% for … in … recursive %%}")
	}
	if len(g.positional) != 1 || len(g.keywords) > 0 {
		r.fail("loop() takes one value: what to loop over")
	}
	return l.of.again(r, g.positional[0], l.depth+1)
}

func loopCycle(r *render, self any, a []any) any {
	if len(a) == 0 {
		r.fail("loop.cycle takes at least one value")
	}
	return a[self.(*loop).index%len(a)]
}

func loopChanged(r *render, self any, a []any) any {
	l, seen := self.(*loop), &tuple{items: a}
	if l.changes != nil && r.equal(l.changes, seen, 0) {
		return false
	}
	l.changes = seen
	return true
}
