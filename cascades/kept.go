package cascades

import (
	"slices"
	"strings"
)

// A kept is where the phases of a cascade leave what they say.
type kept struct {
	by    map[string][]left // "outputs/draft", "state/title"; "outputs" and "state" have all
	gated map[string]bool   // what a phase that is a gate is given
	place map[*Phase]int
	steps int // that have been made; lint --proof follows every way
}

const maxSteps = 1 << 20

// A left is what a phase has left for others: its output, or a part of its text.
type left struct {
	*Phase
	part bool
}

func (c *Cascade) kept() *kept {
	k := &kept{by: map[string][]left{}, gated: map[string]bool{}, place: map[*Phase]int{}}
	for _, p := range c.EveryPhase() {
		if p.Tool == nil || p.Tool.Validator == nil {
			continue
		}
		for _, n := range p.Inputs.Names() {
			k.gated[strings.Join(n.Path[:min(len(n.Path), 2)], "/")] = true
		}
	}
	for _, phase := range c.Phases {
		k.phase(phase)
		for _, p := range phase.Together {
			k.phase(p)
			k.by["outputs/"+phase.Name] = append(k.by["outputs/"+phase.Name], left{Phase: p})
			k.by["outputs/"+phase.Name+"/"+p.Name] = []left{{Phase: p}}
		}
	}
	return k
}

// phase notes where a phase leaves what it says.
func (k *kept) phase(p *Phase) {
	k.place[p] = len(k.place)
	if p.Together != nil {
		return
	}
	k.put("outputs", p.Name, left{Phase: p})
	if p.Each != nil { // the state of an item is its own
		return
	}
	if p.Extraction != nil {
		k.put("state", p.Extraction.StoreAs, left{p, true})
	}
	if key, plain := p.Inputs["key"].(string); plain && p.sets() {
		k.put("state", key, left{Phase: p})
	}
}

// put notes what is under a name. What is composed or kept there for a gate to judge
// is the gate's.
func (k *kept) put(where, name string, what left) {
	if k.gated[where+"/"+name] && (where == "state" || what.Compose != nil) {
		return
	}
	k.by[where] = append(k.by[where], what)
	k.by[where+"/"+name] = append(k.by[where+"/"+name], what)
}

// sets tells whether the phase does nothing but put something into the state.
func (p *Phase) sets() bool { return p.Tool != nil && p.Tool.Engine && p.Tool.Name == SetState }

// bare lists the phases with a model whose texts a phase passes on, and which no
// check has judged: there, or where they are composed or kept on the way.
func (k *kept) bare(phase *Phase) (list []*Phase) {
	seen := map[left]bool{}
	for todo := []*Phase{phase}; len(todo) > 0 && k.steps < maxSteps; todo = todo[1:] {
		for _, from := range k.taken(todo[0]) {
			switch {
			case seen[from] || from.judged():
			case from.Compose != nil || from.sets():
				todo = append(todo, from.Phase)
			case from.Instructions != nil && !slices.Contains(list, from.Phase):
				list = append(list, from.Phase)
			}
			seen[from] = true
		}
	}
	return list
}

// judged tells whether a check stands between what the phase says, or passes on, and
// the others.
func (l left) judged() bool {
	whole := !l.part && (l.Extraction == nil || !l.Extraction.JSON)
	if l.OutputSchema != nil && whole && !l.Rules.Releases() {
		return true
	}
	checks := append(slices.Clone(l.Wards.Post), l.Rules.Loop)
	if !l.Edits() { // of what a person makes of the text there is no turn
		checks = append(checks, l.Wards.Turn...)
	}
	if l.Soundings != nil {
		checks = append(checks, l.Soundings.Filter)
	}
	if l.Tool != nil {
		checks = append(checks, l.Wards.Pre...)
	}
	return slices.ContainsFunc(checks, func(c *Check) bool { return c != nil && stands(c) })
}

// taken is what the phase passes on of others: what it reads by name, or with all
// that came before.
func (k *kept) taken(phase *Phase) (list []left) {
	names := phase.Inputs.Names()
	if phase.Each != nil {
		names = append(names, phase.Each.In.Names()...)
	}
	if phase.Compose != nil {
		names = append(names, phase.Compose.Names()...)
	}
	for _, n := range names {
		list = append(list, k.found(n.Path, phase)...)
	}
	k.steps += len(names) + len(list)
	return list
}

func (k *kept) found(path []string, phase *Phase) []left {
	all := path[0]
	if all == "lineage" {
		all, path = "outputs", path[:1]
	}
	if len(path) == 1 {
		return slices.DeleteFunc(slices.Clone(k.by[all]), func(l left) bool { return k.place[l.Phase] >= k.place[phase] })
	}
	for long := min(len(path), 3); long > 1; long-- {
		if list := k.by[strings.Join(path[:long], "/")]; list != nil {
			return list
		}
	}
	return nil
}
