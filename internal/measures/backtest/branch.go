package backtest

import (
	"maps"
	"reflect"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
)

// branches compares the items of a visit, or the phases of a group, each with the state before the
// visit. The first branch that would have ended the run ends the visit.
func (v *visitTest) branches() error {
	before, reached := v.snapshot.state, v.reached
	var list []*snapshot
	for _, b := range v.visit.Branches {
		one := *v
		k := &snapshot{before}
		k.state.Outputs = maps.Clone(before.Outputs)
		one.snapshot, one.visit, one.phase, one.inner, one.ended, one.reached = k, b, v.phase, runsWithin(b), nil, reached
		if b.Item >= 0 && v.phase.Each == nil {
			one.phase = nil // the phase no longer has a list
		} else if b.Item >= 0 {
			one.locals = v.past.Locals(b.Item)
		} else {
			one.phase = member(v.phase, b.Name)
		}
		if one.phase == nil {
			v.unknownVisits += visitsOf(b)
			continue
		}
		if b.Status == "skipped" {
			continue
		}
		if err := one.test(); err != nil {
			return err
		}
		if one.ended != nil && v.ended == nil {
			v.ended, v.reached = one.ended, false
		}
		if b.Item < 0 {
			k.apply(b, one.phase)
			list = append(list, k)
		}
	}
	v.merge(list)
	return nil
}

// merge copies the state that the phases of a group have set.
func (v *visitTest) merge(list []*snapshot) {
	for _, k := range list {
		for key, value := range k.state.State {
			if was, there := v.snapshot.state.State[key]; !there || !reflect.DeepEqual(was, value) {
				v.snapshot.state.Set(key, value)
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

// applyBranches adds the outputs of the phases of a released group.
func (k *snapshot) applyBranches(visit *trace.Phase) {
	for _, b := range visit.Branches {
		if b.Item < 0 && b.HasOutput() {
			output := plain(b.Output)
			k.state.Outputs[b.Name] = output
			k.state.Lineage = append(k.state.Lineage, engine.Passage{Phase: b.Name, Output: output})
		}
	}
}
