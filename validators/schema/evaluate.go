package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// An evaluation holds one value against one schema.
//
// A node is evaluated at a place. What came of a node that references lead to
// is kept, by node, place and dynamic scope, so that no schema makes more work
// than its places times the value's. First only whether the value is valid is
// asked; if it is not, a second pass reports, with what is known kept.
type evaluation struct {
	*work
	traits
	kept  map[visit]*result
	depth int
	notes []note // of the second pass
	taken int    // notes
}

type visit struct {
	n  *node
	p  *place
	sc *scope
}

// A result is what is known of a visit.
type result struct {
	done     bool // else the visit is under way: who comes to it again goes round in a circle
	valid    bool
	reported bool
	notes    []note // where reported
	seen     seen
}

// maxDepth bounds how deep visits nest: a deep value under a schema that has
// many levels to each of the value's. Go ends a program whose stack is full.
const maxDepth = 100_000

var errDeep = errors.New("schema and value are nested too deeply to be checked")

var errEndless = errors.New("the schema refers to itself without end")

// A run is one visit under way.
type run struct {
	*evaluation
	n      *node
	p      *place
	sc     *scope
	seen   seen
	report bool // notes are taken
	failed bool
}

// visit evaluates n at p. Where it reports, all that is wrong is noted; else it
// ends with the first.
func (e *evaluation) visit(n *node, p *place, sc *scope, report bool) (bool, seen) {
	if e.depth > maxDepth && e.err == nil {
		e.err = errDeep
	}
	if !e.spend(1) {
		return false, seen{}
	}
	e.depth++
	defer func() { e.depth-- }()
	if n.truth != nil {
		if !*n.truth && report {
			e.note(n, p, "", said(sentence("")))
		}
		return *n.truth, seen{}
	}
	if e.dynamic {
		sc = sc.enter(n.res)
	}
	if !n.kept() {
		r := run{evaluation: e, n: n, p: p, sc: sc, report: report}
		return r.evaluate(), r.seen
	}
	at := visit{n, p, sc}
	known := e.kept[at]
	switch {
	case known == nil:
		if !e.spend(priceKept) {
			return false, seen{}
		}
		known = &result{}
		e.kept[at] = known
	case !known.done:
		e.err = errEndless
		return false, seen{}
	case known.valid || !report:
		return known.valid, known.seen
	case known.reported:
		if e.spend(len(known.notes)) {
			e.notes = append(e.notes, known.notes...)
		}
		return known.valid, known.seen
	}
	known.done, known.reported = false, report
	outer := e.notes
	e.notes = nil
	r := run{evaluation: e, n: n, p: p, sc: sc, report: report}
	known.valid = r.evaluate()
	known.done, known.seen = true, r.seen
	if report {
		known.notes = e.keep(p)
	}
	e.notes = append(outer, known.notes...)
	return known.valid, known.seen
}

// at evaluates another node at the same place; what it looked at counts here if
// it is valid.
func (r *run) at(n *node, report bool) bool {
	ok, seen := r.visit(n, r.p, r.sc, report)
	if ok && r.unevaluated {
		r.spend(len(seen.names) + len(seen.items))
		r.seen.add(seen)
	}
	return ok
}

// below evaluates a node at a place within.
func (r *run) below(n *node, s step, value any) {
	if !r.under(n, s, value, r.report) {
		r.failed = true
	}
}

func (r *run) under(n *node, s step, value any, report bool) bool {
	if n.truth != nil && *n.truth {
		return true
	}
	ok, _ := r.visit(n, r.p.child(s, value), r.sc, report)
	return ok
}

// fail notes that a word is broken.
func (r *run) fail(word string, said func() Violation) {
	r.failed = true
	if r.report {
		r.note(r.n, r.p, word, said)
	}
}

// over tells that nothing more need be asked.
func (r *run) over() bool { return r.failed && !r.report || r.err != nil }

func (r *run) evaluate() bool {
	if r.whole(); r.failed {
		return false
	}
	if r.n.ref != nil {
		r.refer(r.n.ref)
	}
	switch v := r.p.value.(type) {
	case map[string]any:
		if r.n.object != nil && !r.over() {
			r.object(v)
		}
	case []any:
		if r.n.array != nil && !r.over() {
			r.array(v)
		}
	case string:
		if r.n.text != nil && !r.over() {
			r.text(v)
		}
	default:
		if r.n.number != nil && !r.over() && typeOf(v) == numberType {
			r.number(v)
		}
	}
	if !r.over() {
		r.references()
	}
	if !r.over() {
		r.conditions()
	}
	if !r.over() {
		r.unseen()
	}
	return !r.failed && r.err == nil
}

func (r *run) refer(n *node) {
	if !r.at(n, r.report) {
		r.failed = true
	}
}

// references follows those whose target hangs on the way here.
func (r *run) references() {
	if n := r.n.recursiveRef; n != nil {
		if n.res.recursive && n.at == n.res.at {
			n = r.sc.outermost(func(res *resource) *node { return res.root }, n)
		}
		r.refer(n)
	}
	if n := r.n.dynamicRef; n != nil {
		if name := r.n.dynamicName; name != "" {
			n = r.sc.outermost(func(res *resource) *node { return res.dynamic[name] }, n)
		}
		r.refer(n)
	}
}

func (r *run) conditions() {
	if r.n.not != nil {
		if ok, _ := r.visit(r.n.not, r.p, r.sc, false); ok {
			r.fail("not", func() Violation { return Violation{Message: sentence("not", show(r.n.not.raw))} })
		}
	}
	for _, n := range r.n.allOf {
		if r.over() {
			return
		}
		r.refer(n)
	}
	if r.n.anyOf != nil && !r.over() {
		r.anyOf()
	}
	if r.n.oneOf != nil && !r.over() {
		r.oneOf()
	}
	if r.n.ifs == nil || r.over() {
		return
	}
	if r.at(r.n.ifs, false) {
		if r.n.thens != nil {
			r.refer(r.n.thens)
		}
	} else if r.n.elses != nil {
		r.refer(r.n.elses)
	}
}

func (r *run) anyOf() {
	matched := false
	for _, n := range r.n.anyOf {
		if r.at(n, false) {
			if matched = true; !r.unevaluated {
				return
			}
		}
	}
	if !matched {
		r.none("anyOf", r.n.anyOf)
	}
}

func (r *run) oneOf() {
	first := -1
	for i, n := range r.n.oneOf {
		if !r.at(n, false) {
			continue
		}
		if first >= 0 {
			r.fail("oneOf", said(fmt.Sprintf("must match exactly one of %d alternatives, matches %d and %d", len(r.n.oneOf), first+1, i+1)))
			return
		}
		first = i
	}
	if first < 0 {
		r.none("oneOf", r.n.oneOf)
	}
}

// unseen evaluates what nothing has looked at.
func (r *run) unseen() {
	switch v := r.p.value.(type) {
	case map[string]any:
		if r.n.unevaluatedProps == nil || r.seen.all {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !r.seen.names[name] && !r.over() {
				r.below(r.n.unevaluatedProps, step{name, -1}, v[name])
			}
		}
		r.seen.all = true
	case []any:
		if r.n.unevItems == nil || r.seen.all {
			return
		}
		for i := r.seen.first; i < len(v) && !r.over(); i++ {
			if !r.seen.items[i] {
				r.below(r.n.unevItems, step{index: i}, v[i])
			}
		}
		r.seen.all = true
	}
}
