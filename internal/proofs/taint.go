package proofs

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/templates"
)

// A taint is a text that a model may have written: its source, and the gates
// that it has passed.
type taint struct {
	from  int   // index of the source
	gates []int // indexes of the gates, sorted
	via   []string
	key   string // source and gates, as 2,0,3; taints with equal keys are the same, whatever their variables
}

func newTaint(from int, gates []int, via []string) *taint {
	key := strconv.Itoa(from)
	for _, g := range gates {
		key += "," + strconv.Itoa(g)
	}
	return &taint{from, gates, via, key}
}

// taints are sorted by key and never modified.
type taints []*taint

// maxTaints is the maximum number of distinguished taints with gates for one
// source. A taint without a gate is always kept, so the limit never affects the
// result.
const maxTaints = 16

// union returns the union of two sets. If it equals the first, it is the same
// slice.
func (s taints) union(more taints) taints {
	if len(more) == 0 || len(s) == len(more) && &s[0] == &more[0] {
		return s
	}
	var news taints
	for _, one := range more {
		if _, there := slices.BinarySearchFunc(s, one.key, byKey); !there && (len(one.gates) == 0 || s.count(one.from)+news.count(one.from) < maxTaints) {
			news = append(news, one)
		}
	}
	if len(news) == 0 {
		return s
	}
	all := append(slices.Clone(s), news...)
	slices.SortFunc(all, func(a, b *taint) int { return strings.Compare(a.key, b.key) })
	return all
}

// count returns the number of taints of one source.
func (s taints) count(source int) (n int) {
	for _, one := range s {
		if one.from == source {
			n++
		}
	}
	return n
}

func byKey(one *taint, key string) int { return strings.Compare(one.key, key) }

// throughGates returns the taints after they have passed more gates.
func (s taints) throughGates(gates ...int) taints {
	if len(gates) == 0 {
		return s
	}
	var out taints
	for _, one := range s {
		all := slices.Concat(one.gates, gates)
		slices.Sort(all)
		out = out.union(taints{newTaint(one.from, slices.Compact(all), one.via)})
	}
	return out
}

// throughVar returns the taints with a variable added to their path.
func (s taints) throughVar(name string) taints {
	out := make(taints, len(s))
	for i, one := range s {
		out[i] = one
		if len(one.via) < maxVariables && !slices.Contains(one.via, name) {
			out[i] = &taint{one.from, one.gates, append(slices.Clip(one.via), name), one.key}
		}
	}
	return out
}

// maxVariables is the maximum number of variables recorded for one path.
const maxVariables = 8

// vars maps variables to taints: those with known names, and the rest. Clones
// share the map until one of them writes, because most phases change little.
type vars struct {
	known  map[string]taints
	shared bool
	rest   taints
}

func (v *vars) clone() vars {
	v.shared = true
	return *v
}

func (v vars) get(name string) taints {
	if s, ok := v.known[name]; ok {
		return s
	}
	return v.rest
}

func (v *vars) set(name string, s taints) {
	switch {
	case v.known == nil:
		v.known = map[string]taints{}
	case v.shared:
		v.known = maps.Clone(v.known)
	}
	v.shared = false
	v.known[name] = s
}

// addToAll adds taints to every variable, because the name of the assigned one
// is unknown.
func (v *vars) addToAll(s taints) {
	v.rest = v.rest.union(s)
	for name, old := range v.known {
		if all := old.union(s); len(all) != len(old) {
			v.set(name, all)
		}
	}
}

func (v vars) all() taints {
	s := v.rest
	for _, name := range slices.Sorted(maps.Keys(v.known)) {
		s = s.union(v.known[name])
	}
	return s
}

// join merges the facts of another path to the same place and reports whether
// there was anything new. A name that only one path knows has the rest of the
// other path. So no name loses taints.
func (v *vars) join(w vars) (more bool) {
	for name := range w.known {
		if _, there := v.known[name]; !there {
			v.set(name, v.rest)
		}
	}
	for name, old := range v.known {
		if all := old.union(w.get(name)); len(all) != len(old) {
			v.set(name, all)
			more = true
		}
	}
	all := v.rest.union(w.rest)
	more = more || len(all) != len(v.rest)
	v.rest = all
	return more
}

// facts are the possible taints at one place of a run.
type facts struct {
	input, state, outputs vars

	last     taints          // the last released output
	lineage  taints          // all released outputs
	reasons  taints          // the failure message of the previous phase
	files    taints          // written files, which a reading tool may return
	previous map[string]bool // the phases that may have released the last output
}

// vars returns the variables below a root name, or nil.
func (s *facts) vars(root string) *vars {
	switch root {
	case "input":
		return &s.input
	case "state":
		return &s.state
	case "outputs":
		return &s.outputs
	}
	return nil
}

func newFacts() *facts { return &facts{previous: map[string]bool{}} }

func (s *facts) clone() *facts {
	own := *s
	own.input, own.state, own.outputs, own.previous = s.input.clone(), s.state.clone(), s.outputs.clone(), maps.Clone(s.previous)
	return &own
}

func (s *facts) join(o *facts) (more bool) {
	for _, pair := range [][2]*vars{{&s.input, &o.input}, {&s.state, &o.state}, {&s.outputs, &o.outputs}} {
		more = pair[0].join(*pair[1]) || more
	}
	for _, pair := range [][2]*taints{{&s.last, &o.last}, {&s.lineage, &o.lineage}, {&s.reasons, &o.reasons}, {&s.files, &o.files}} {
		all := pair[0].union(*pair[1])
		more = more || len(all) != len(*pair[0])
		*pair[0] = all
	}
	for name := range o.previous {
		more = more || !s.previous[name]
		s.previous[name] = true
	}
	return more
}

// size returns the amount of data, for the limit of work.
func (s *facts) size() int { return len(s.input.known) + len(s.state.known) + len(s.outputs.known) + 8 }

// key returns a text that is equal for equal facts.
func (s *facts) key() string {
	var b strings.Builder
	put := func(name string, list taints) {
		b.WriteString(name)
		for _, one := range list {
			b.WriteString(" " + one.key)
		}
		b.WriteByte('\n')
	}
	for i, v := range []vars{s.input, s.state, s.outputs} {
		for _, name := range slices.Sorted(maps.Keys(v.known)) {
			put(strconv.Itoa(i)+strconv.Quote(name), v.known[name])
		}
		put(strconv.Itoa(i), v.rest)
	}
	put("said", s.reasons)
	put("files", s.files)
	return b.String()
}

// A view is the data that a phase's templates read.
type view struct {
	*facts
	locals  map[string]taints // of an item of each
	content taints            // the content of a check, or of a question to a person
}

// path returns the taints of the variable at a path.
func (v view) path(path []string) taints {
	if s, ok := v.locals[path[0]]; ok {
		return s
	}
	if m := v.vars(path[0]); m != nil && len(path) > 1 {
		return m.get(path[1])
	} else if m != nil {
		return m.all()
	}
	switch path[0] {
	case "lineage":
		return v.lineage
	case "validation_error":
		return v.reasons
	case "content", "output":
		return v.content
	}
	return nil
}

// value returns the taints that the templates of a value read.
func (v view) value(value any) taints {
	return v.values(cascades.Values{"": value})
}

func (v view) values(values cascades.Values) taints { return v.names(values.Names()) }

func (v view) template(t *templates.Template) taints {
	if t == nil {
		return nil
	}
	return v.names(t.Names())
}

func (v view) names(names []templates.Name) (s taints) {
	for _, n := range names {
		s = s.union(v.path(n.Path))
	}
	return s
}

// each returns the taints of named values separately.
func (v view) each(values cascades.Values) (m vars) {
	for name, value := range values {
		m.set(name, v.value(value).throughVar("input."+name))
	}
	return m
}
