package cascades

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/windlass"
)

// several lists the words of a context that stand for other phases.
var several = []string{keywords.Previous, keywords.First, keywords.All}

// context reads the context of a phase.
func (p *parser) context(phase *reader.Object) (c Context) {
	o := phase.Child("context")
	if o == nil {
		return c
	}
	known := map[string]int{} // the index in From of each phase
	for _, n := range o.List("from") {
		s, at := p.contextSource(p.Resolve(n))
		if s.Phase == "" {
			continue
		}
		if i, again := known[s.Phase]; again {
			c.From[i].Output, c.From[i].State = c.From[i].Output || s.Output, c.From[i].State || s.State
			continue
		}
		if s.Phase != keywords.Previous {
			p.refer(at, "context", s.Phase)
		}
		known[s.Phase] = len(c.From)
		c.From = append(c.From, s)
	}
	for _, n := range o.List("exclude") {
		name := p.Word(n, "a phase of exclude")
		if name == "" {
			continue
		}
		p.refer(p.Resolve(n), "context", name)
		if _, named := known[name]; named {
			p.Error(n, codes.Conflict, "phase %s is named in from: exclude only removes phases that all, first or previous add", name)
		}
		c.Exclude = append(c.Exclude, name)
	}
	if c.Input = o.Flag("include_input", false); !c.Input {
		o.Needs("from")
	}
	if o.Has("exclude") && !slices.ContainsFunc(c.From, func(s Source) bool { return slices.Contains(several, s.Phase) }) {
		o.Conflict("exclude", "exclude means nothing without all, first or previous in from")
	}
	o.Done()
	return c
}

// wordFor returns the word of several for a name in from. It also accepts prev and
// capitals, as in Windlass. If a phase has the name, wordFor returns the name.
func (p *parser) wordFor(n *yaml.Node, name string) string {
	word := strings.ToLower(name)
	word = cmp.Or(windlass.Value("from", word).Here, word)
	if _, isPhase := p.facts.Lines[name]; isPhase || word == name || !slices.Contains(several, word) {
		return name
	}
	p.ReadAs(n, "from", name, word)
	return word
}

// contextSource reads one entry of from. It also returns the node of the phase's
// name.
func (p *parser) contextSource(n *yaml.Node) (Source, *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return Source{Phase: p.wordFor(n, p.Word(n, "a phase of context")), Output: true}, n
	}
	o := p.Fields(n, "a phase of context")
	s := Source{Phase: p.wordFor(o.Get("phase"), o.Required("phase"))}
	for _, what := range o.List("include") {
		switch word, _ := p.Text(what, "an entry of include"); {
		case word == "output":
			s.Output = true
		case word == "state":
			s.State = true
		case windlass.Value("include", word).Effect == windlass.Ignored:
			p.Warn(what, codes.Ignored, "include: %s has no effect: a phase gets the output of another phase and the state that it set", word)
		default:
			p.Error(what, codes.Value, "include must be output or state, not %q", word)
			p.Suggest(word, func() []string { return []string{"output", "state"} })
		}
	}
	s.Output = s.Output || !s.State
	if n := o.Get("include"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.Error(n, codes.Value, "include must not be empty")
	}
	o.Done()
	return s, o.Get("phase")
}
