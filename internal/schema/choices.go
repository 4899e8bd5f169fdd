package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
)

// A branch is one schema of anyOf or oneOf, with the failures of a value there.
type branch struct {
	number   int // from 1
	failures []note
}

// noMatch reports a choice in which no branch matches. It reports the branch
// that fits best: the type matches, then constants such as a discriminator
// match, then the fewest places fail. If several fit equally well, one
// violation lists them.
func (r *run) noMatch(word string, choice []*node) {
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
		b := branch{i + 1, r.reported(r.p)}
		if len(best) > 0 {
			order := r.compareBranches(b, best[0])
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
		r.notes = append(r.notes, best[0].failures...)
	case len(best) > 1:
		r.tie(word, len(choice), best)
	}
}

// compareBranches orders branches by how well they fit. The better branch comes
// first.
func (r *run) compareBranches(a, b branch) int {
	of := func(b branch) (missed [2]int) {
		for _, n := range b.failures {
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
	return cmp.Or(cmp.Compare(min(x[0], 1), min(y[0], 1)), cmp.Compare(x[1], y[1]), cmp.Compare(len(a.failures), len(b.failures)))
}

// maxBranches is the maximum number of branches that one violation lists.
const maxBranches = 6

// tie reports branches that fit equally well.
func (r *run) tie(word string, all int, best []branch) {
	types := typeSet(0)
	for _, b := range best {
		if n := b.failures[0]; len(b.failures) > 1 || n.at != r.p || n.word != "type" {
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
			first := b.failures[0]
			text := fmt.Sprintf("must match one of %d alternatives", first.tied)
			if first.tied == 0 { // a nested list would make this list grow with each level
				text = first.violation().Message
			}
			if first.at != p {
				text = pathOf(first.at.steps()) + ": " + text
			}
			wrong = append(wrong, strconv.Itoa(b.number)+": "+clips.Bytes(text, maxShown))
		}
		return Violation{Message: fmt.Sprintf("must match %s of %d alternatives, matches none (%s)", how, all, strings.Join(wrong, ", or "))}
	})
	if len(r.notes) > 0 && r.err == nil {
		r.notes[len(r.notes)-1].tied = all
	}
}

// reported returns a copy of the notes, at most as many as a report contains.
func (e *evaluation) reported(p *place) []note {
	if len(e.notes) > maxViolations && e.spend(len(e.notes)*(1+p.depth/8)) {
		e.truncate()
	}
	return slices.Clone(e.notes)
}
