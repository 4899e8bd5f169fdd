package cascades

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
)

// several are the words of a context that stand for other phases.
var several = []string{Previous, First, All}

// context reads what the phase's prompt carries of what came before.
func (p *parser) context(phase *object) (c Context) {
	o := phase.child("context")
	if o == nil {
		return c
	}
	known := map[string]int{} // phases, by where they are in From
	for _, n := range o.list("from") {
		s, at := p.contextSource(p.resolve(n))
		if s.Phase == "" {
			continue
		}
		if i, again := known[s.Phase]; again {
			c.From[i].Output, c.From[i].State = c.From[i].Output || s.Output, c.From[i].State || s.State
			continue
		}
		if s.Phase != Previous {
			p.routes = append(p.routes, route{at, "context", s.Phase, p.reading})
		}
		known[s.Phase] = len(c.From)
		c.From = append(c.From, s)
	}
	for _, n := range o.list("exclude") {
		name := p.word(n, "a phase of exclude")
		if name == "" {
			continue
		}
		p.routes = append(p.routes, route{p.resolve(n), "context", name, p.reading})
		if _, named := known[name]; named {
			p.report(n, CodeConflict, "phase %s is in from: exclude is for what all, first and previous bring", name)
		}
		c.Exclude = append(c.Exclude, name)
	}
	if c.Input = o.flag("include_input", false); !c.Input {
		o.needs("from")
	}
	if o.has("exclude") && !slices.ContainsFunc(c.From, func(s Source) bool { return slices.Contains(several, s.Phase) }) {
		o.conflict("exclude", "exclude means nothing without all, first or previous in from")
	}
	o.done()
	return c
}

// wordFor gives a word for other phases as it is written here: Windlass has prev
// too, and reads them all in capitals as well. What is the name of a phase is one.
func (p *parser) wordFor(n *yaml.Node, name string) string {
	word := strings.ToLower(name)
	word = cmp.Or(windlass.Reads("from", word), word)
	if _, there := p.lineOf[name]; there || word == name || !slices.Contains(several, word) {
		return name
	}
	p.otherwise(n, "from", name, word)
	return word
}

// contextSource reads one entry of from, and gives the node that names the phase.
func (p *parser) contextSource(n *yaml.Node) (Source, *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return Source{Phase: p.wordFor(n, p.word(n, "a phase of context")), Output: true}, n
	}
	o := p.fields(n, "a phase of context")
	s := Source{Phase: p.wordFor(o.get("phase"), o.required("phase"))}
	for _, what := range o.list("include") {
		switch word, _ := p.text(what, "an entry of include"); {
		case word == "output":
			s.Output = true
		case word == "state":
			s.State = true
		case windlass.LeftOut("include", word):
			p.warn(what, CodeIgnored, "include: %s changes nothing: a phase is told what another released (output), and what it set (state)", word)
		default:
			p.report(what, CodeValue, "include must be output or state, not %q", word)
			p.suggest(word, func() []string { return []string{"output", "state"} })
		}
	}
	s.Output = s.Output || !s.State
	if n := o.get("include"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.report(n, CodeValue, "include must not be empty")
	}
	o.done()
	return s, o.get("phase")
}
