package graphs

import (
	"fmt"
	"strings"
)

// A Flow is a list of paths from left to right. Each path leads from a source
// through its guards to a target.
type Flow struct {
	Name     string
	Headline string
	Ways     []Passage
}

// A Passage is one path of a [Flow].
type Passage struct {
	From, To Box
	Through  string   // more text about the path
	Guards   []string // the names of the guards
	Bare     bool     // there is no guard; drawn red and dashed as a mistake
}

// A Box is one end of a [Passage].
type Box struct{ Title, About string }

// drawn numbers the ends of the paths in order. It calls node for each end when
// it first occurs.
func (f Flow) drawn(node func(n int, b Box, target bool), edge func(from, to int, p Passage)) {
	numbers := map[Box]int{}
	number := func(b Box, target bool) int {
		n, there := numbers[b]
		if !there {
			n = len(numbers)
			numbers[b] = n
			node(n, b, target)
		}
		return n
	}
	for _, p := range f.Ways {
		edge(number(p.From, false), number(p.To, true), p)
	}
}

// Dot returns the flow for Graphviz, with a final newline.
func (f Flow) Dot() string {
	var b strings.Builder
	beginDot(&b, f.Name, "LR")
	f.drawn(func(n int, one Box, target bool) {
		style := ""
		if target {
			style = ", shape=cylinder, style=solid"
		}
		fmt.Fprintf(&b, "  n%d [label=%s%s]\n", n, dotText(one.Title+"\n"+one.About), style)
	}, func(from, to int, p Passage) {
		style := "color=darkgreen"
		if p.Bare {
			style = "color=firebrick, style=dashed"
		}
		fmt.Fprintf(&b, "  n%d -> n%d [label=%s, %s]\n", from, to, dotText(strings.Join(p.Guards, "\n")), style)
	})
	b.WriteString("}\n")
	return b.String()
}

// Mermaid returns the flow as a Mermaid flowchart, with a final newline.
func (f Flow) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	f.drawn(func(n int, one Box, target bool) {
		shape := "[\"%s<br/>%s\"]\n"
		if target {
			shape = "[(\"%s<br/>%s\")]\n"
		}
		fmt.Fprintf(&b, "  n%d"+shape, n, mermaidText(one.Title), mermaidText(one.About))
	}, func(from, to int, p Passage) {
		arrow := "-->"
		if p.Bare {
			arrow = "-.->"
		}
		var guards []string
		for _, g := range p.Guards {
			guards = append(guards, mermaidText(g))
		}
		fmt.Fprintf(&b, "  n%d %s|\"%s\"| n%d\n", from, arrow, strings.Join(guards, "<br/>"), to)
	})
	return b.String()
}
