package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A branch is a schema of a choice, with what is wrong with a value there.
type branch struct {
	number int // from 1
	notes  []note
}

// none fails where nothing of a choice matches. It reports the branch that fits best:
// its type and then its constants, such as a discriminator, match the value, and the
// fewest places are wrong. If several fit equally well, one violation lists them.
func (r *run) none(word string, choice []*node) {
	r.failed = true
	if !r.report {
		return
	}
	outer := r.notes
	best := make([]branch, 0, len(choice))
	for i, n := range choice {
		r.notes = nil
		if ok, _ := r.visit(n, r.p, r.sc, true); ok || r.err != nil {
			break
		}
		b := branch{i + 1, r.keep(r.p)}
		if len(best) > 0 {
			order := r.compare(b, best[0])
			if order > 0 {
				continue
			}
			if order < 0 {
				best = best[:0]
			}
		}
		best = append(best, b)
	}
	r.notes = outer
	switch {
	case len(best) == 1:
		r.notes = append(r.notes, best[0].notes...)
	case len(best) > 1:
		r.tie(word, len(choice), best)
	}
}

// compare orders branches by how well they fit, the better one first.
func (r *run) compare(a, b branch) int {
	of := func(b branch) (missed [2]int) {
		for _, n := range b.notes {
			switch {
			case n.at == r.p && (n.word == "type" || n.word == "enum" && n.n.enum.types&typeOf(r.p.value) == 0):
				missed[0]++
			case n.at.parent == r.p && (n.word == "const" || n.word == "enum" && len(n.n.enum.values) == 1):
				missed[1]++
			}
		}
		return missed
	}
	x, y := of(a), of(b)
	return cmp.Or(cmp.Compare(min(x[0], 1), min(y[0], 1)), cmp.Compare(x[1], y[1]), cmp.Compare(len(a.notes), len(b.notes)))
}

// maxBranches bounds the branches that one violation lists.
const maxBranches = 6

// tie reports branches that fit equally well.
func (r *run) tie(word string, all int, best []branch) {
	types := typeSet(0)
	for _, b := range best {
		if n := b.notes[0]; len(b.notes) > 1 || n.at != r.p || n.word != "type" {
			types = 0
			break
		} else if types |= n.n.types; n.n.types == 0 {
			break
		}
	}
	if v := r.p.value; types != 0 {
		r.fail("type", func() Violation { return mistyped(types, v) })
		return
	}
	p := r.p
	r.fail(word, func() Violation {
		how := "at least one"
		if word == "oneOf" {
			how = "exactly one"
		}
		var wrong []string
		for i, b := range best {
			if i == maxBranches {
				wrong = append(wrong, fmt.Sprintf("%d more", len(best)-i))
				break
			}
			first := b.notes[0]
			text := fmt.Sprintf("must match one of %d alternatives", first.tied)
			if first.tied == 0 { // else its own list would make this one grow with each level
				text = first.said().Message
			}
			if first.at != p {
				text = pathOf(first.at.steps()) + ": " + text
			}
			wrong = append(wrong, strconv.Itoa(b.number)+": "+Clip(text, maxShown))
		}
		return Violation{Message: fmt.Sprintf("must match %s of %d alternatives, matches none (%s)", how, all, strings.Join(wrong, ", or "))}
	})
	if len(r.notes) > 0 && r.err == nil {
		r.notes[len(r.notes)-1].tied = all
	}
}

// keep returns a copy of the notes that are reported of those taken.
func (e *evaluation) keep(p *place) []note {
	if len(e.notes) > maxViolations && e.spend(len(e.notes)*(1+p.depth/8)) {
		e.first()
	}
	return slices.Clone(e.notes)
}
