package cascades

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/wards"
)

// A card is what a graph shows of a phase.
type card struct {
	title string
	about string // model or tool, turns, attempts
	lines []cardLine
}

// A cardLine is a check of a phase or a cascade within it.
type cardLine struct {
	moment string
	text   string
	mode   string // a ward's mode, or "cascade"
}

// maxLines bounds the lines of one card.
const maxLines = 12

func newCard(p *Phase, m *Marks) card {
	c := card{title: oneLine(p.Name, 40), about: about(p)}
	add := func(moment, mode, text string) { c.lines = append(c.lines, cardLine{moment, oneLine(text, 36), mode}) }
	if mark, _, visited := m.of(p.Name); visited {
		c.lines = append(c.lines, mark.line())
	}
	for _, s := range p.Subs {
		add("before", "cascade", s.Cascade.ID)
	}
	ward := func(check *Check) {
		w := check.Ward
		if w.Mode == wards.Retry {
			add(string(w.Moment), string(w.Mode), fmt.Sprintf("%s ×%d", w.Name, w.MaxAttempts))
		} else {
			add(string(w.Moment), string(w.Mode), w.Name)
		}
	}
	for _, check := range slices.Concat(p.Wards.Pre, p.Wards.Tool, p.Wards.Result, p.Wards.Turn) {
		ward(check)
	}
	if p.SchemaWard != nil {
		add("output", string(wards.Retry), fmt.Sprintf("output_schema ×%d", p.SchemaWard.MaxAttempts))
	}
	if p.Rules.Loop != nil {
		add("until", string(wards.Retry), fmt.Sprintf("%s ×%d", p.Rules.Loop.Ward.Name, p.Rules.Loop.Ward.MaxAttempts))
	}
	for _, check := range p.Wards.Post {
		ward(check)
	}
	for _, one := range p.Together {
		add("beside", "phase", one.Name+": "+about(one))
	}
	for _, h := range p.Handoffs {
		if h.Ends {
			add("end", "ends", strings.TrimSpace("ends the run "+h.Description))
		}
	}
	if p.asksOnTheWay() {
		add("asks", "human", "a person: on the way")
	}
	if p.Human != nil {
		add("asks", "human", "a person: "+p.Human.Type)
	}
	if more := len(c.lines) - maxLines; more > 0 {
		c.lines = append(c.lines[:maxLines], cardLine{text: fmt.Sprintf("and %d more", more)})
	}
	return c
}

func about(p *Phase) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case p.Tool != nil && p.Tool.Validator != nil:
		add("gate %s", oneLine(p.Tool.Name, 30))
	case p.Tool != nil:
		add("tool %s", oneLine(p.Tool.Name, 30))
	case p.Compose != nil:
		add("composed")
	case p.Together != nil:
		add("%d phases together", len(p.Together))
	case len(p.Model) > 0:
		add("%s", oneLine(p.Model.String(), 30))
	default:
		add("model")
	}
	if p.Each != nil {
		add("for each %s, at most %d", p.Each.As, p.Each.most())
	}
	if p.Rules.MaxTurns > 1 {
		add("%d turns", p.Rules.MaxTurns)
	}
	if p.Soundings != nil {
		add("%d soundings", p.Soundings.Tries())
	}
	if p.TokenBudget != nil {
		add("at most %s", p.TokenBudget)
	}
	if n := len(p.Tackle); n == 1 {
		add("1 tool")
	} else if n > 1 {
		add("%d tools", n)
	}
	if p.When != nil {
		add("when %s", oneLine(p.When.String(), 24))
	}
	return strings.Join(parts, " · ")
}

// edges lists every way between phases, one of each kind and label for two
// phases, with how often a run took it.
func (c *Cascade) edges(m *Marks) []way {
	var out []way
	seen := map[way]bool{}
	for i := range c.Phases {
		for _, w := range c.ways(i) {
			w.label = oneLine(w.label, 32)
			if w.taken = m.taken(c, w); w.taken > 1 {
				w.label = strings.TrimSpace(fmt.Sprintf("%s ×%d", w.label, w.taken))
			}
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// Mermaid is the cascade as a Mermaid flowchart, ending in a newline.
func (c *Cascade) Mermaid() string { return c.MermaidOf(nil) }

// MermaidOf is [Cascade.Mermaid] with what a run did.
func (c *Cascade) MermaidOf(m *Marks) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, p := range c.Phases {
		card := newCard(p, m)
		parts := []string{"<b>" + mermaidText(card.title) + "</b>", mermaidText(card.about)}
		for _, l := range card.lines {
			parts = append(parts, mermaidText(l.String()))
		}
		fmt.Fprintf(&b, "  p%d[\"%s\"]\n", i, strings.Join(parts, "<br/>"))
		if p.Instructions == nil && p.Together == nil {
			fmt.Fprintf(&b, "  class p%d tool\n", i)
		}
		if _, s, visited := m.of(p.Name); visited {
			fmt.Fprintf(&b, "  style p%d fill:%s,color:#1f2328\n", i, s.fill)
		}
	}
	for i, w := range c.edges(m) {
		arrow := map[wayKind]string{wayChosen: "-.->", wayExhausted: "==>"}[w.kind]
		if arrow == "" {
			arrow = "-->"
		}
		label := ""
		if w.label != "" {
			label = "|\"" + mermaidText(w.label) + "\"|"
		}
		fmt.Fprintf(&b, "  p%d %s%s p%d\n", w.from, arrow, label, w.to)
		if w.taken > 0 {
			fmt.Fprintf(&b, "  linkStyle %d stroke-width:3px\n", i)
		}
	}
	if tried := c.tried(m); tried != "" {
		fmt.Fprintf(&b, "  tries([\"%s\"]) --> p0\n", mermaidText(tried))
	}
	b.WriteString("  classDef tool stroke-dasharray: 4 3\n")
	return b.String()
}

// mermaidText writes every character that Mermaid or the HTML it makes could
// take for its own as an entity.
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

// String is the line as plain text: post grammar_check ×3 (retry).
func (l cardLine) String() string {
	s := strings.TrimSpace(l.moment + " " + l.text)
	if l.mode != "" {
		s += " (" + l.mode + ")"
	}
	return s
}

// Dot is the cascade as a graph for Graphviz, ending in a newline.
func (c *Cascade) Dot() string { return c.DotOf(nil) }

// DotOf is [Cascade.Dot] with what a run did.
func (c *Cascade) DotOf(m *Marks) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", dotText(c.ID))
	b.WriteString("  graph [rankdir=TB, fontname=\"Helvetica\"]\n  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11]\n  edge [fontname=\"Helvetica\", fontsize=10]\n")
	for i, p := range c.Phases {
		card := newCard(p, m)
		lines := []string{card.title, card.about}
		for _, l := range card.lines {
			lines = append(lines, l.String())
		}
		style := ""
		if p.Instructions == nil && p.Together == nil {
			style = ", style=\"rounded,dashed\""
		}
		if _, s, visited := m.of(p.Name); visited {
			style = strings.TrimSuffix(cmp.Or(style, ", style=\"rounded\""), "\"") + ",filled\", fillcolor=\"" + s.fill + "\""
		}
		fmt.Fprintf(&b, "  p%d [label=%s%s]\n", i, dotText(strings.Join(lines, "\n")), style)
	}
	for _, w := range c.edges(m) {
		var attributes []string
		if w.label != "" {
			attributes = append(attributes, "label="+dotText(w.label))
		}
		switch w.kind {
		case wayChosen:
			attributes = append(attributes, "style=dashed")
		case wayExhausted:
			attributes = append(attributes, "color=firebrick")
		case waySkipped:
			attributes = append(attributes, "style=dotted")
		}
		if w.taken > 0 {
			attributes = append(attributes, "penwidth=2.5")
		}
		fmt.Fprintf(&b, "  p%d -> p%d [%s]\n", w.from, w.to, strings.Join(attributes, ", "))
	}
	if tried := c.tried(m); tried != "" {
		fmt.Fprintf(&b, "  tries [label=%s, shape=plaintext]\n  tries -> p0\n", dotText(tried))
	}
	b.WriteString("}\n")
	return b.String()
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "").Replace(s) + `"`
}
