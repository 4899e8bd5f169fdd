// Package flow analyzes the routes between phases. It finds the phases that can be reached,
// the phases in loops, the phases after a phase, and the distance to the end.
package flow

// A Graph contains the routes between numbered phases. A run begins at phase 0.
type Graph struct {
	Next    [][]int // phases that may follow each phase
	Ends    []bool  // the run may end after the phase
	Circle  []bool  // the phase can be reached, and a route leads from it back to it
	Reached []bool  // the phase can be reached
}

// New returns a graph. next lists the phases that may follow each phase. ends reports for each
// phase whether the run may end after it.
func New(next [][]int, ends []bool) *Graph {
	g := &Graph{Next: next, Ends: ends, Circle: make([]bool, len(next)), Reached: make([]bool, len(next))}
	g.search()
	return g
}

// search fills Circle and Reached. It uses Tarjan's algorithm for strongly connected
// components from the first phase. A component with one phase is a loop only if the phase
// follows itself.
func (g *Graph) search() {
	n := len(g.Next)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	var count int
	var visit func(v int)
	visit = func(v int) {
		count++
		index[v], low[v], on[v], g.Reached[v] = count, count, true, true
		start := len(stack)
		stack = append(stack, v)
		for _, w := range g.Next[v] {
			if index[w] == 0 {
				visit(w)
			}
			if on[w] {
				low[v] = min(low[v], low[w])
			}
			g.Circle[v] = g.Circle[v] || w == v
		}
		if low[v] != index[v] {
			return
		}
		for _, w := range stack[start:] {
			on[w] = false
			g.Circle[w] = g.Circle[w] || len(stack) > start+1
		}
		stack = stack[:start]
	}
	if n > 0 {
		visit(0)
	}
}

// ToEnd returns the number of visits on the shortest route from each phase to the end,
// including the visit of the phase. The number is 0 if no route leads to the end.
func (g *Graph) ToEnd() []int {
	before := make([][]int, len(g.Next))
	visits := make([]int, len(g.Next))
	var todo []int
	for i, next := range g.Next {
		for _, to := range next {
			before[to] = append(before[to], i)
		}
		if g.Ends[i] {
			visits[i], todo = 1, append(todo, i)
		}
	}
	for ; len(todo) > 0; todo = todo[1:] { // breadth-first, so that the first number is the smallest
		for _, i := range before[todo[0]] {
			if visits[i] == 0 {
				visits[i], todo = visits[todo[0]]+1, append(todo, i)
			}
		}
	}
	return visits
}

// After reports for each phase whether it can run after phase i.
func (g *Graph) After(i int) []bool {
	after := make([]bool, len(g.Next))
	for todo := []int{i}; len(todo) > 0; todo = todo[1:] {
		for _, to := range g.Next[todo[0]] {
			if !after[to] {
				after[to], todo = true, append(todo, to)
			}
		}
	}
	return after
}
