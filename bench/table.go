package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
)

// table writes the results as Markdown: for each number of cores a table of times and processor times,
// as multiples of the bare call, and a table of memory.
func (p plan) table(w io.Writer, cells []*cell) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s/%s. Medians of %d rounds of %s.\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, p.rounds-1, p.time)
	for _, cores := range p.cores {
		where := "each system on one core, the model on another"
		if cores > 1 {
			where = "each system and the model on two shared cores"
		}
		fmt.Fprintf(&b, "\n## A turn, %s\n\nEach time is a multiple of the bare call. Parentheses: processor time, as a multiple of the bare call.\n\n", where)
		p.ratios(&b, cells, cores)
	}
	fmt.Fprint(&b, "\n## Memory\n\nThe largest memory of a process over all rounds, in MB.\n\n")
	p.memory(&b, cells)
	_, err := w.Write(b.Bytes())
	return err
}

// columns calls a function for each length and width, in the order of the table.
func (p plan) columns(of func(turns, width int)) {
	for _, turns := range p.turns {
		for _, width := range p.widths {
			of(turns, width)
		}
	}
}

func (p plan) ratios(b *bytes.Buffer, cells []*cell, cores int) {
	fmt.Fprint(b, "| |")
	p.columns(func(turns, width int) { fmt.Fprintf(b, " %s, %d concurrent |", plural(turns), width) })
	fmt.Fprint(b, "\n|---|")
	p.columns(func(int, int) { fmt.Fprint(b, "---|") })
	for _, s := range p.systems {
		fmt.Fprintf(b, "\n| %s |", title(s))
		p.columns(func(turns, width int) {
			own, base := find(cells, cores, turns, width, s.name), find(cells, cores, turns, width, bareName)
			if s.name == bareName {
				fmt.Fprintf(b, " 1 = %d µs |", median(each(own, own, func(r, _ round) float64 { return perTurn(r) })))
				return
			}
			fmt.Fprintf(b, " %.2f (%.2f) |",
				float64(median(each(own, base, func(r, bare round) float64 { return 1000 * perTurn(r) / perTurn(bare) })))/1000,
				float64(median(each(own, base, func(r, bare round) float64 { return 1000 * cpuTurn(r) / cpuTurn(bare) })))/1000)
		})
	}
	fmt.Fprintln(b)
}

func (p plan) memory(b *bytes.Buffer, cells []*cell) {
	fmt.Fprint(b, "| |")
	for _, turns := range p.turns {
		fmt.Fprintf(b, " %s |", plural(turns))
	}
	fmt.Fprint(b, "\n|---|")
	for range p.turns {
		fmt.Fprint(b, "---|")
	}
	for _, s := range p.systems {
		fmt.Fprintf(b, "\n| %s |", s.name)
		for _, turns := range p.turns {
			most := int64(0)
			for _, c := range cells {
				if c.system.name == s.name && c.turns == turns {
					for _, r := range c.rounds {
						most = max(most, r.Peak)
					}
				}
			}
			fmt.Fprintf(b, " %d |", most>>10)
		}
	}
	fmt.Fprintln(b)
}

// title returns a system with its version and features.
func title(s system) string {
	name := s.name
	if v := version(s.of); v != "" {
		name += " " + v
	}
	return name + ": " + s.kind
}

func find(cells []*cell, cores, turns, width int, name string) *cell {
	i := slices.IndexFunc(cells, func(c *cell) bool {
		return c.cores == cores && c.turns == turns && c.width == width && c.system.name == name
	})
	return cells[i]
}

// each computes a value for every round and the bare call's round.
func each(own, base *cell, of func(r, bare round) float64) []float64 {
	list := make([]float64, len(own.rounds))
	for i, r := range own.rounds {
		list[i] = of(r, base.rounds[i])
	}
	return list
}

// median returns the rounded median.
func median(list []float64) int {
	slices.Sort(list)
	n := len(list)
	return int((list[(n-1)/2]+list[n/2])/2 + 0.5)
}

// perTurn and cpuTurn are in µs.
func perTurn(r round) float64 { return float64(r.Wall.Nanoseconds()) / 1000 / float64(r.Turns) }
func cpuTurn(r round) float64 { return float64(r.CPU.Nanoseconds()) / 1000 / float64(r.Turns) }

func plural(turns int) string {
	if turns == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", turns)
}
