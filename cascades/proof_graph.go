package cascades

import (
	"fmt"
	"strings"
)

// drawn numbers the sources and the tools of the ways, in their order; node is
// told of each when it is first met.
func (p *Proof) drawn(node func(n int, lines []string, tool bool), edge func(from, to int, gates []string)) {
	numbers := map[string]int{}
	number := func(lines []string, tool bool) int {
		key := strings.Join(lines, "\n")
		n, there := numbers[key]
		if !there {
			n = len(numbers)
			numbers[key] = n
			node(n, lines, tool)
		}
		return n
	}
	for _, w := range p.Ways {
		from := number([]string{w.From.String(), w.From.At.String()}, false)
		to := number([]string{w.Tool, w.At.String()}, true)
		var gates []string
		for _, g := range w.Gates {
			gates = append(gates, g.String())
		}
		edge(from, to, gates)
	}
}

// Dot is the ways as a graph for Graphviz, ending in a newline: those without a
// gate are red and dashed.
func (p *Proof) Dot() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", dotText(p.File))
	b.WriteString("  graph [rankdir=LR, fontname=\"Helvetica\"]\n  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11]\n  edge [fontname=\"Helvetica\", fontsize=10]\n")
	p.drawn(func(n int, lines []string, tool bool) {
		style := ""
		if tool {
			style = ", shape=cylinder, style=solid"
		}
		fmt.Fprintf(&b, "  n%d [label=%s%s]\n", n, dotText(strings.Join(lines, "\n")), style)
	}, func(from, to int, gates []string) {
		style := "color=darkgreen"
		if len(gates) == 0 {
			style, gates = "color=firebrick, style=dashed", []string{"no gate"}
		}
		fmt.Fprintf(&b, "  n%d -> n%d [label=%s, %s]\n", from, to, dotText(strings.Join(gates, "\n")), style)
	})
	b.WriteString("}\n")
	return b.String()
}

// Mermaid is [Proof.Dot] as a Mermaid flowchart.
func (p *Proof) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	text := func(lines []string) string {
		for i, l := range lines {
			lines[i] = mermaidText(l)
		}
		return strings.Join(lines, "<br/>")
	}
	p.drawn(func(n int, lines []string, tool bool) {
		shape := "[\"%s\"]\n"
		if tool {
			shape = "[(\"%s\")]\n"
		}
		fmt.Fprintf(&b, "  n%d"+shape, n, text(lines))
	}, func(from, to int, gates []string) {
		arrow := "-->"
		if len(gates) == 0 {
			arrow, gates = "-.->", []string{"no gate"}
		}
		fmt.Fprintf(&b, "  n%d %s|\"%s\"| n%d\n", from, arrow, text(gates), to)
	})
	return b.String()
}
