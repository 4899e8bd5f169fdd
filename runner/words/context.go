package words

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
)

// A Passage is one phase that released an output.
type Passage struct {
	Phase  string   `json:"phase"`
	Output any      `json:"output"`
	Set    []string `json:"set,omitempty"` // the keys of the state that it has written
}

// A Before is what a run knows before a phase begins.
type Before struct {
	Lineage               []Passage // in the order in which they ran
	Previous              string    // the phase that ran before
	Input, State, Outputs map[string]any
}

// Context returns what a prompt carries of what came before, one text for each part.
func (b Before) Context(p *cascades.Phase, named func(phase string) bool) (texts []string) {
	put := func(title string, value any) { texts = append(texts, "## "+title+"\n\n"+Text(value)) }
	if p.Context.Input {
		put("Input", b.Input)
	}
	for _, s := range b.sources(p.Context, named) {
		if s.Output {
			put("Result of phase "+s.Phase, b.Outputs[s.Phase])
		}
		if state := b.set(s.Phase); s.State && len(state) > 0 {
			put("State of phase "+s.Phase, state)
		}
	}
	return texts
}

// Instructed returns the system text and the instructions of a phase as one text.
func Instructed(system, instructions string) string {
	if system == "" {
		return instructions
	}
	return system + "\n\n" + instructions
}

// sources are the phases that have released something and are meant, each once,
// where it is meant first.
func (b Before) sources(c cascades.Context, named func(string) bool) (list []cascades.Source) {
	for _, s := range c.From {
		for _, name := range b.meant(s.Phase, named) {
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

// meant are the phases that a word of from stands for.
func (b Before) meant(word string, named func(string) bool) []string {
	switch {
	case word == cascades.Previous:
		return []string{b.Previous}
	case named(word):
	case word == cascades.First && len(b.Lineage) > 0:
		return []string{b.Lineage[0].Phase}
	case word == cascades.All:
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

// set is what of the state a phase has written, as it is now.
func (b Before) set(phase string) map[string]any {
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
