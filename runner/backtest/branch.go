package backtest

import (
	"maps"
	"reflect"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/trace"
)

// branches holds the items of a visit, or the phases of a group, each with what
// the run knew before them all. The first that would have ended the run ends the
// visit.
func (v *visitTest) branches() error {
	before, made := v.known.state, v.made
	var after []*known
	for _, b := range v.visit.Branches {
		one := *v
		k := &known{before}
		k.state.Outputs = maps.Clone(before.Outputs)
		one.known, one.visit, one.phase, one.inner, one.ended, one.made = k, b, v.phase, runsWithin(b), nil, made
		if b.Item >= 0 && v.phase.Each == nil {
			one.phase = nil // it goes over no list any more
		} else if b.Item >= 0 {
			one.locals = v.past.Locals(b.Item)
		} else {
			one.phase = member(v.phase, b.Name)
		}
		if one.phase == nil {
			v.strange += visitsOf(b)
			continue
		}
		if b.Status == "skipped" {
			continue
		}
		if err := one.test(); err != nil {
			return err
		}
		if one.ended != nil && v.ended == nil {
			v.ended, v.made = one.ended, false
		}
		if b.Item < 0 {
			k.after(b, one.phase)
			after = append(after, k)
		}
	}
	v.merge(after)
	return nil
}

// merge learns what the phases of a group have put into the state.
func (v *visitTest) merge(list []*known) {
	for _, k := range list {
		for key, value := range k.state.State {
			if was, there := v.known.state.State[key]; !there || !reflect.DeepEqual(was, value) {
				v.known.state.Set(key, value)
			}
		}
	}
}

func member(group *cascades.Phase, name string) *cascades.Phase {
	for _, p := range group.Together {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// learnBranches learns what the phases of a group have let out, where the group
// itself was.
func (k *known) learnBranches(visit *trace.Phase) {
	for _, b := range visit.Branches {
		if b.Item < 0 && letOut(b) {
			output := plain(b.Output)
			k.state.Outputs[b.Name] = output
			k.state.Lineage = append(k.state.Lineage, engine.Passage{Phase: b.Name, Output: output})
		}
	}
}
