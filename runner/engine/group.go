package engine

import (
	"maps"
	"reflect"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/words"
)

// group runs the phases of a group side by side, each with the state and the
// outputs as they were before it. Its output is the map of theirs; what they put
// into the state is merged in file order.
func (v *visit) group() (release, error) {
	v.base = v.s.State
	branches := make([]*flow, len(v.p.Together))
	err := v.fan(len(branches), 0, func(b *flow, i int) error {
		branches[i] = b
		p := v.p.Together[i]
		one := b.visit(p, v.at.Join(p.Name))
		one.validated = v.validated
		_, err := one.pass()
		return err
	})
	if err != nil {
		return release{}, err
	}
	all := map[string]any{}
	state, outputs := newMerge(v.s.State), newMerge(v.s.Outputs)
	before := v.s.State
	for i, b := range branches {
		p := v.p.Together[i]
		if key := state.add(p.Name, b.s.State); key != "" {
			return release{}, failed(v.at, "phases %s and %s set state.%s differently", state.by[key], p.Name, key)
		}
		if key := outputs.add(p.Name, b.s.Outputs); key != "" {
			return release{}, failed(v.at, "phases %s and %s bring outputs.%s, and not the same", outputs.by[key], p.Name, key)
		}
		if output, released := b.released(p); released {
			all[p.Name] = output
			v.s.Lineage = append(v.s.Lineage, Passage{Phase: p.Name, Output: output, Set: written(before, b.s.State)})
		}
	}
	v.s.State = state.all
	for name, output := range outputs.news() {
		v.s.release(name, output)
	}
	return release{candidate: candidate{value: all, text: words.Text(all)}}, nil
}

// released gives what the phase let out in this branch.
func (f *flow) released(p *cascades.Phase) (output any, ok bool) {
	for _, r := range f.s.Phases {
		if r.Name == p.Name && (r.Status == Succeeded || r.Status == degraded) {
			return f.s.Outputs[p.Name], true
		}
	}
	return nil, false
}

// A merge is what several have made of one map.
type merge struct {
	before, all map[string]any
	by          map[string]string // who has written a key
}

func newMerge(before map[string]any) *merge {
	return &merge{before, maps.Clone(before), map[string]string{}}
}

// add takes over what one has written, and gives the first key that another has
// written differently.
func (m *merge) add(who string, own map[string]any) (clash string) {
	for _, key := range slices.Sorted(maps.Keys(own)) {
		was, there := m.before[key]
		if there && reflect.DeepEqual(was, own[key]) {
			continue
		}
		if _, written := m.by[key]; written && !reflect.DeepEqual(m.all[key], own[key]) {
			return key
		}
		m.all[key], m.by[key] = own[key], who
	}
	return ""
}

// written are the keys that stand otherwise than before.
func written(before, now map[string]any) (keys []string) {
	for key, value := range now {
		if was, there := before[key]; !there || !reflect.DeepEqual(was, value) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// news are the keys that were written.
func (m *merge) news() map[string]any {
	news := map[string]any{}
	for key := range m.by {
		news[key] = m.all[key]
	}
	return news
}
