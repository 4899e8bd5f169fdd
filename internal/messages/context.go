package messages

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
)

// A Passage is one phase that released an output.
type Passage struct {
	Phase  string   `json:"phase"`
	Output any      `json:"output"`
	Set    []string `json:"set,omitempty"` // the keys of the state that it has written
}

// History is the state of a run before a phase begins.
type History struct {
	Lineage               []Passage // in the order in which they ran
	Previous              string    // the previous phase
	Input, State, Outputs map[string]any
}

// Context returns the parts of a prompt that describe the earlier phases. named
// reports whether a word is the name of a phase.
func (b History) Context(p *cascades.Phase, named func(phase string) bool) (texts []string) {
	put := func(title string, value any) { texts = append(texts, "## "+title+"\n\n"+Text(value)) }
	if p.Context.Input {
		put("Input", b.Input)
	}
	for _, s := range b.sources(p.Context, named) {
		if s.Output {
			put("Result of phase "+s.Phase, b.Outputs[s.Phase])
		}
		if state := b.stateOf(s.Phase); s.State && len(state) > 0 {
			put("State of phase "+s.Phase, state)
		}
	}
	return texts
}

// WithSystem returns the system text and the instructions of a phase as one
// text.
func WithSystem(system, instructions string) string {
	if system == "" {
		return instructions
	}
	return system + "\n\n" + instructions
}

// sources returns the phases in the context that have released an output, each once, in
// the order of the first reference.
func (b History) sources(c cascades.Context, named func(string) bool) (list []cascades.Source) {
	for _, s := range c.From {
		for _, name := range b.resolve(s.Phase, named) {
			i := slices.IndexFunc(list, func(one cascades.Source) bool { return one.Phase == name })
			_, released := b.Outputs[name]
			switch {
			case !released, name != s.Phase && slices.Contains(c.Exclude, name):
			case i >= 0:
				list[i].Output, list[i].State = list[i].Output || s.Output, list[i].State || s.State
			default:
				list = append(list, cascades.Source{Phase: name, Output: s.Output, State: s.State})
			}
		}
	}
	return list
}

// resolve returns the phases that a word of from refers to.
func (b History) resolve(word string, named func(string) bool) []string {
	switch {
	case word == keywords.Previous:
		return []string{b.Previous}
	case named(word):
	case word == keywords.First && len(b.Lineage) > 0:
		return []string{b.Lineage[0].Phase}
	case word == keywords.All:
		var names []string
		for i, p := range b.Lineage {
			if !slices.ContainsFunc(b.Lineage[i+1:], func(later Passage) bool { return later.Phase == p.Phase }) {
				names = append(names, p.Phase)
			}
		}
		return names
	}
	return []string{word}
}

// stateOf returns the current values of the state's keys that a phase has
// written.
func (b History) stateOf(phase string) map[string]any {
	state := map[string]any{}
	for _, p := range b.Lineage {
		if p.Phase != phase {
			continue
		}
		for _, key := range p.Set {
			if value, there := b.State[key]; there {
				state[key] = value
			}
		}
	}
	return state
}
