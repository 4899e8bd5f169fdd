package cascades

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/flow"
)

// visits returns the maximum number of visits of a phase.
func visits(g *flow.Graph, i, maxPhases int) int {
	switch {
	case g.Circle[i]:
		return maxPhases
	case g.Reached[i]:
		return 1
	default:
		return 0
	}
}

// maxWork is the maximum number of steps from phase to phase in the search for the longest
// route. After that, the search assumes the most expensive phase for each further visit.
const maxWork = 200_000

// longest returns the maximum total of a route with at most limit visits. cut reports whether
// the limit ended a route.
func longest(g *flow.Graph, phases []PhasePlan, limit int) (total Counts, cut bool) {
	if len(phases) == 0 {
		return Counts{}, false
	}
	ends := []int{0}                           // last phases of the routes with this number of visits
	sums := map[int]Counts{0: phases[0].Visit} // maximum of each count by last phase; the maxima may belong to different routes
	total = phases[0].Visit
	work := 0
	for visits := 1; len(ends) > 0; visits++ {
		if visits >= limit {
			return total, slices.ContainsFunc(ends, func(v int) bool { return len(g.Next[v]) > 0 })
		}
		if work > maxWork {
			return total.plus(dearest(g, phases).times(limit - visits)), true
		}
		var further []int
		longer := map[int]Counts{}
		for _, v := range ends {
			for _, w := range g.Next[v] {
				work++
				old, known := longer[w]
				if !known {
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

// dearest returns the maximum counts of the reachable phases.
func dearest(g *flow.Graph, phases []PhasePlan) Counts {
	var c Counts
	for i, p := range phases {
		if g.Reached[i] {
			c = c.orMore(p.Visit)
		}
	}
	return c
}

// cheapest returns the minimum total of a route from the first phase to an end. Each number
// has its own minimum.
func cheapest(g *flow.Graph, phases []PhasePlan) Tokens {
	none := Tokens{Most, Most, Most}
	to := make([]Tokens, len(phases))
	for i := range to {
		to[i] = none
	}
	lower := func(a, b int) int { return min(a, b) }
	total, further := none, []int{}
	if len(phases) > 0 {
		to[0], further = phases[0].Least, []int{0}
	}
	for len(further) > 0 {
		v := further[0]
		further = further[1:]
		if g.Ends[v] {
			total = total.each(to[v], lower)
		}
		for _, w := range g.Next[v] {
			if t := to[w].each(to[v].plus(phases[w].Least), lower); t != to[w] {
				to[w] = t
				further = append(further, w)
			}
		}
	}
	if total == none { // no route ends
		return Tokens{}
	}
	return total
}
