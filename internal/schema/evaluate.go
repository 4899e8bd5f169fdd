package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// An evaluation checks one value against one schema.
//
// A node is evaluated at a place of the value. The evaluation stores the result
// of a node that references lead to, by node, place and dynamic scope. So the
// work is at most the schema's places times the value's places. The first pass
// only decides whether the value is valid. If it is not, a second pass collects
// the violations and reuses the stored results.
type evaluation struct {
	*budget
	traits
	results   map[visit]*result
	depth     int
	notes     []note // of the second pass
	noteCount int    // number of notes so far
}

type visit struct {
	n  *node
	p  *place
	sc *scope
}

// A result is the stored outcome of a visit.
type result struct {
	done     bool // false while the visit is running; another visit is then an endless reference
	valid    bool
	reported bool
	notes    []note // if reported
	seen     seen
}

// maxDepth is the maximum depth of nested visits. A deep value under a schema
// with many levels for each of its levels needs a deep stack, and Go ends a
// program whose stack is full.
const maxDepth = 100_000

var errDeep = errors.New("schema and value are nested too deeply to be checked")

var errEndless = errors.New("the schema refers to itself endlessly")

// A run is one visit in progress.
type run struct {
	*evaluation
	n      *node
	p      *place
	sc     *scope
	seen   seen
	report bool // collect notes
	failed bool
}

// visit evaluates n at p. With report, it notes every failure; otherwise it
// stops at the first.
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
			e.note(n, p, "", message(sentence("")))
		}
		return *n.truth, seen{}
	}
	if e.dynamic {
		sc = sc.enter(n.res)
	}
	if !n.memoized() {
		r := run{evaluation: e, n: n, p: p, sc: sc, report: report}
		result := r.evaluate()
		return result, r.seen
	}
	at := visit{n, p, sc}
	known := e.results[at]
	switch {
	case known == nil:
		if !e.spend(costResult) {
			return false, seen{}
		}
		known = &result{}
		e.results[at] = known
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
		known.notes = e.reported(p)
	}
	e.notes = append(outer, known.notes...)
	return known.valid, known.seen
}

// apply evaluates another node at the same place. If the node is valid, its
// evaluated properties and items count here too.
func (r *run) apply(n *node, report bool) bool {
	ok, seen := r.visit(n, r.p, r.sc, report)
	if ok && r.unevaluated {
		r.spend(len(seen.names) + len(seen.items))
		r.seen.add(seen)
	}
	return ok
}

// child evaluates a node at a place within this one.
func (r *run) child(n *node, s step, value any) {
	if !r.childValid(n, s, value, r.report) {
		r.failed = true
	}
}

func (r *run) childValid(n *node, s step, value any, report bool) bool {
	if n.truth != nil && *n.truth {
		return true
	}
	ok, _ := r.visit(n, r.p.child(s, value), r.sc, report)
	return ok
}

// fail records that a keyword failed.
func (r *run) fail(word string, violation func() Violation) {
	r.failed = true
	if r.report {
		r.note(r.n, r.p, word, violation)
	}
}

// done reports whether the evaluation of the node can stop.
func (r *run) done() bool { return r.failed && !r.report || r.err != nil }

func (r *run) evaluate() bool {
	if r.generic(); r.failed {
		return false
	}
	if r.n.ref != nil {
		r.applyRef(r.n.ref)
	}
	switch v := r.p.value.(type) {
	case map[string]any:
		if r.n.object != nil && !r.done() {
			r.object(v)
		}
	case []any:
		if r.n.array != nil && !r.done() {
			r.array(v)
		}
	case string:
		if r.n.text != nil && !r.done() {
			r.text(v)
		}
	default:
		if r.n.number != nil && !r.done() && typeOf(v) == numberType {
			r.number(v)
		}
	}
	if !r.done() {
		r.dynamicRefs()
	}
	if !r.done() {
		r.conditions()
	}
	if !r.done() {
		r.unevaluatedKeywords()
	}
	return !r.failed && r.err == nil
}

func (r *run) applyRef(n *node) {
	if !r.apply(n, r.report) {
		r.failed = true
	}
}

// dynamicRefs follows the references whose target depends on the path to them.
func (r *run) dynamicRefs() {
	if n := r.n.recursiveRef; n != nil {
		if n.res.recursive && n.at == n.res.at {
			n = r.sc.outermost(func(res *resource) *node { return res.root }, n)
		}
		r.applyRef(n)
	}
	if n := r.n.dynamicRef; n != nil {
		if name := r.n.dynamicName; name != "" {
			n = r.sc.outermost(func(res *resource) *node { return res.dynamic[name] }, n)
		}
		r.applyRef(n)
	}
}

func (r *run) conditions() {
	if r.n.not != nil {
		if ok, _ := r.visit(r.n.not, r.p, r.sc, false); ok {
			r.fail("not", func() Violation { return Violation{Message: sentence("not", show(r.n.not.raw))} })
		}
	}
	for _, n := range r.n.allOf {
		if r.done() {
			return
		}
		r.applyRef(n)
	}
	if r.n.anyOf != nil && !r.done() {
		r.anyOf()
	}
	if r.n.oneOf != nil && !r.done() {
		r.oneOf()
	}
	if r.n.ifs == nil || r.done() {
		return
	}
	if r.apply(r.n.ifs, false) {
		if r.n.thens != nil {
			r.applyRef(r.n.thens)
		}
	} else if r.n.elses != nil {
		r.applyRef(r.n.elses)
	}
}

func (r *run) anyOf() {
	matched := false
	for _, n := range r.n.anyOf {
		if r.apply(n, false) {
			if matched = true; !r.unevaluated {
				return
			}
		}
	}
	if !matched {
		r.noMatch("anyOf", r.n.anyOf)
	}
}

func (r *run) oneOf() {
	first := -1
	for i, n := range r.n.oneOf {
		if !r.apply(n, false) {
			continue
		}
		if first >= 0 {
			r.fail("oneOf", message(fmt.Sprintf("must match exactly one of %d alternatives, matches %d and %d", len(r.n.oneOf), first+1, i+1)))
			return
		}
		first = i
	}
	if first < 0 {
		r.noMatch("oneOf", r.n.oneOf)
	}
}

// unevaluatedKeywords evaluates unevaluatedProperties and unevaluatedItems.
func (r *run) unevaluatedKeywords() {
	switch v := r.p.value.(type) {
	case map[string]any:
		if r.n.unevaluatedProperties == nil || r.seen.all {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !r.seen.names[name] && !r.done() {
				r.child(r.n.unevaluatedProperties, step{name, -1}, v[name])
			}
		}
		r.seen.all = true
	case []any:
		if r.n.unevaluatedItems == nil || r.seen.all {
			return
		}
		for i := r.seen.first; i < len(v) && !r.done(); i++ {
			if !r.seen.items[i] {
				r.child(r.n.unevaluatedItems, step{index: i}, v[i])
			}
		}
		r.seen.all = true
	}
}
