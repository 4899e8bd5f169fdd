package graphs

import (
	"cmp"
	"fmt"
	"strings"
)

// Mermaid returns the graph as a Mermaid flowchart, with a final newline.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, card := range g.Cards {
		parts := []string{"<b>" + mermaidText(card.Title) + "</b>", mermaidText(card.About)}
		for _, l := range card.Lines {
			parts = append(parts, mermaidText(l.String()))
		}
		fmt.Fprintf(&b, "  p%d[\"%s\"]\n", i, strings.Join(parts, "<br/>"))
		if card.Kind != Model {
			fmt.Fprintf(&b, "  class p%d tool\n", i)
		}
		if card.Status != "" {
			fmt.Fprintf(&b, "  style p%d fill:%s,color:#1f2328\n", i, shadeOf(card.Status).fill)
		}
	}
	for i, w := range g.Ways {
		arrow := map[WayKind]string{Chosen: "-.->", Failed: "==>"}[w.Kind]
		label := ""
		if w.Label != "" {
			label = "|\"" + mermaidText(w.Label) + "\"|"
		}
		fmt.Fprintf(&b, "  p%d %s%s p%d\n", w.From, cmp.Or(arrow, "-->"), label, w.To)
		if w.Taken > 0 {
			fmt.Fprintf(&b, "  linkStyle %d stroke-width:3px\n", i)
		}
	}
	if g.Whole != "" {
		fmt.Fprintf(&b, "  tries([\"%s\"]) --> p0\n", mermaidText(g.Whole))
	}
	b.WriteString("  classDef tool stroke-dasharray: 4 3\n")
	return b.String()
}

// mermaidText escapes every character that is special in Mermaid or HTML.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\"#&<>`\\;{}[]()|%*_~'$", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Dot returns the graph for Graphviz, with a final newline.
func (g Graph) Dot() string {
	var b strings.Builder
	beginDot(&b, g.Name, "TB")
	for i, card := range g.Cards {
		lines := []string{card.Title, card.About}
		for _, l := range card.Lines {
			lines = append(lines, l.String())
		}
		style := ""
		if card.Kind != Model {
			style = ", style=\"rounded,dashed\""
		}
		if card.Status != "" {
			style = strings.TrimSuffix(cmp.Or(style, ", style=\"rounded\""), "\"") + ",filled\", fillcolor=\"" + shadeOf(card.Status).fill + "\""
		}
		fmt.Fprintf(&b, "  p%d [label=%s%s]\n", i, dotText(strings.Join(lines, "\n")), style)
	}
	for _, w := range g.Ways {
		var attributes []string
		if w.Label != "" {
			attributes = append(attributes, "label="+dotText(w.Label))
		}
		switch w.Kind {
		case Chosen:
			attributes = append(attributes, "style=dashed")
		case Failed:
			attributes = append(attributes, "color=firebrick")
		case Skipped:
			attributes = append(attributes, "style=dotted")
		}
		if w.Taken > 0 {
			attributes = append(attributes, "penwidth=2.5")
		}
		fmt.Fprintf(&b, "  p%d -> p%d [%s]\n", w.From, w.To, strings.Join(attributes, ", "))
	}
	if g.Whole != "" {
		fmt.Fprintf(&b, "  tries [label=%s, shape=plaintext]\n  tries -> p0\n", dotText(g.Whole))
	}
	b.WriteString("}\n")
	return b.String()
}

// beginDot begins a graph from top to bottom (TB) or left to right (LR).
func beginDot(b *strings.Builder, name, direction string) {
	fmt.Fprintf(b, "digraph %s {\n  graph [rankdir=%s, fontname=\"Helvetica\"]\n", dotText(name), direction)
	b.WriteString("  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11]\n  edge [fontname=\"Helvetica\", fontsize=10]\n")
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "")

func dotText(s string) string { return `"` + dotEscapes.Replace(s) + `"` }
