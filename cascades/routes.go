package cascades

import "slices"

// routes are the ways between the phases of a cascade.
type routes struct {
	next   [][]int // the phases that may follow each
	circle []bool  // a way leads to the phase from the first, and from it back to it
	within []bool  // a way leads to the phase from the first
}

func newRoutes(c *Cascade) *routes {
	n := len(c.Phases)
	r := &routes{next: make([][]int, n), circle: make([]bool, n), within: make([]bool, n)}
	for i := range c.Phases {
		for _, w := range c.ways(i) {
			note(&r.next[i], w.To)
		}
	}
	r.search()
	return r
}

// search finds what can be reached and what lies on a circle: Tarjan's
// strongly connected components, begun at the first phase. One of a single phase is
// a circle only where the phase leads to itself.
func (r *routes) search() {
	n := len(r.next)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	var count int
	var visit func(v int)
	visit = func(v int) {
		count++
		index[v], low[v], on[v], r.within[v] = count, count, true, true
		start := len(stack)
		stack = append(stack, v)
		for _, w := range r.next[v] {
			if index[w] == 0 {
				visit(w)
			}
			if on[w] {
				low[v] = min(low[v], low[w])
			}
			r.circle[v] = r.circle[v] || w == v
		}
		if low[v] != index[v] {
			return
		}
		for _, w := range stack[start:] {
			on[w] = false
			r.circle[w] = r.circle[w] || len(stack) > start+1
		}
		stack = stack[:start]
	}
	if n > 0 {
		visit(0)
	}
}

func (r *routes) visits(i, maxPhases int) int {
	switch {
	case r.circle[i]:
		return maxPhases
	case r.within[i]:
		return 1
	default:
		return 0
	}
}

// maxWork bounds the search for the longest way, in steps from one phase to the next;
// beyond it every visit left is taken for the dearest.
const maxWork = 200_000

// longest is the most that a way of at most limit visits can add up to, and
// whether the limit cut it.
func (r *routes) longest(phases []PhasePlan, limit int) (total Counts, cut bool) {
	if len(phases) == 0 {
		return Counts{}, false
	}
	ends := []int{0}                           // of the ways of this many visits
	sums := map[int]Counts{0: phases[0].Visit} // by their ends, the most of each count: no one way need have all
	total = phases[0].Visit
	work := 0
	for visits := 1; len(ends) > 0; visits++ {
		if visits >= limit {
			return total, slices.ContainsFunc(ends, func(v int) bool { return len(r.next[v]) > 0 })
		}
		if work > maxWork {
			return total.plus(r.dearest(phases).times(limit - visits)), true
		}
		var further []int
		longer := map[int]Counts{}
		for _, v := range ends {
			for _, w := range r.next[v] {
				work++
				old, there := longer[w]
				if !there {
					further = append(further, w)
				}
				longer[w] = old.orMore(sums[v].plus(phases[w].Visit))
				total = total.orMore(longer[w])
			}
		}
		ends, sums = further, longer
	}
	return total, false
}

// dearest is the most that any phase within reach does.
func (r *routes) dearest(phases []PhasePlan) Counts {
	var c Counts
	for i, p := range phases {
		if r.within[i] {
			c = c.orMore(p.Visit)
		}
	}
	return c
}
