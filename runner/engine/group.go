package engine

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
)

// group runs the phases of a group in parallel. Each starts with the state and
// the outputs from before the group. The output is a map of their outputs.
// Changes of the state are merged in file order.
func (v *visit) group() (release, error) {
	branches := make([]*flow, len(v.p.Together))
	err := v.fan(len(branches), 0, func(b *flow, i int) error {
		branches[i] = b
		p := v.p.Together[i]
		_, err := b.visit(p, v.at.Join(p.Name)).pass()
		return err
	})
	if err != nil {
		return release{}, err
	}
	all := map[string]any{}
	state, outputs := parallel.NewMerge(v.s.State), parallel.NewMerge(v.s.Outputs)
	lineage, before := v.s.Lineage, v.s.State
	for i, b := range branches {
		p := v.p.Together[i]
		if key := state.Add(p.Name, b.s.State); key != "" {
			return release{}, failed(v.at, "phases %s and %s set state.%s differently", state.By(key), p.Name, key)
		}
		if key := outputs.Add(p.Name, b.s.Outputs); key != "" {
			return release{}, failed(v.at, "phases %s and %s bring outputs.%s, and not the same", outputs.By(key), p.Name, key)
		}
		if output, released := b.released(p); released {
			all[p.Name] = output
			lineage = append(lineage, Passage{Phase: p.Name, Output: output, Set: parallel.Changed(before, b.s.State)})
		}
	}
	v.s.State, v.s.Lineage = state.All(), lineage
	for name, output := range outputs.Changes() {
		v.s.release(name, output)
	}
	return release{candidate: candidate{value: all, text: messages.Text(all)}}, nil
}

// released returns the output that the phase released in this branch.
func (f *flow) released(p *cascades.Phase) (output any, ok bool) {
	for _, r := range f.s.Phases {
		if r.Name == p.Name && (r.Status == Succeeded || r.Status == degraded) {
			return f.s.Outputs[p.Name], true
		}
	}
	return nil, false
}
