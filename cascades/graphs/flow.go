package graphs

import (
	"fmt"
	"strings"
)

// A Flow is ways from left to right, each from a source to a target, past what
// guards it.
type Flow struct {
	Name     string
	Headline string
	Ways     []Passage
}

// A Passage is one way of a [Flow].
type Passage struct {
	From, To Box
	Through  string   // what else is told of it
	Guards   []string // in words
	Bare     bool     // it has none, and is drawn as what is wrong: red and dashed
}

// A Box is one end of a [Passage].
type Box struct{ Title, About string }

// drawn numbers the ends of the ways, in their order; node is told of each when it
// is first met.
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

// Dot is the flow for Graphviz, ending in a newline.
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

// Mermaid is the flow as a Mermaid flowchart, ending in a newline.
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
