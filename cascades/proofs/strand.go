package proofs

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/templates"
)

// A strand is a text that somebody may have written, as it stands at a spot of
// a run: its source, and the gates that have judged it on the way.
type strand struct {
	from  int   // among the prover's sources
	gates []int // among its gates, sorted
	via   []string
	key   string // of source and gates, as 2,0,3: strands with one key are one, whatever their via
}

func newStrand(from int, gates []int, via []string) *strand {
	key := strconv.Itoa(from)
	for _, g := range gates {
		key += "," + strconv.Itoa(g)
	}
	return &strand{from, gates, via, key}
}

// strands are sorted by key, and never changed.
type strands []*strand

// maxStrands bounds how many ways of one source with a gate are told apart at one
// spot. A bare one is always kept: what is proven does not hang on the bound.
const maxStrands = 16

// and is both. Where it is no more than the first, it is the first.
func (s strands) and(more strands) strands {
	if len(more) == 0 || len(s) == len(more) && &s[0] == &more[0] {
		return s
	}
	var news strands
	for _, one := range more {
		if _, there := slices.BinarySearchFunc(s, one.key, byKey); !there && (len(one.gates) == 0 || s.of(one.from)+news.of(one.from) < maxStrands) {
			news = append(news, one)
		}
	}
	if len(news) == 0 {
		return s
	}
	all := append(slices.Clone(s), news...)
	slices.SortFunc(all, func(a, b *strand) int { return strings.Compare(a.key, b.key) })
	return all
}

// of is how many there are of one source.
func (s strands) of(source int) (n int) {
	for _, one := range s {
		if one.from == source {
			n++
		}
	}
	return n
}

func byKey(one *strand, key string) int { return strings.Compare(one.key, key) }

// past is the strands behind gates that judge them.
func (s strands) past(gates ...int) strands {
	if len(gates) == 0 {
		return s
	}
	var out strands
	for _, one := range s {
		all := slices.Concat(one.gates, gates)
		slices.Sort(all)
		out = out.and(strands{newStrand(one.from, slices.Compact(all), one.via)})
	}
	return out
}

// at is the strands as they stand in a variable.
func (s strands) at(name string) strands {
	out := make(strands, len(s))
	for i, one := range s {
		out[i] = one
		if len(one.via) < maxVia && !slices.Contains(one.via, name) {
			out[i] = &strand{one.from, one.gates, append(slices.Clip(one.via), name), one.key}
		}
	}
	return out
}

// maxVia bounds how many variables are told of one way.
const maxVia = 8

// vars is a map of variables: those whose names are known, and what all others
// have. Clones share the map until one of them is written to: most of what a phase
// is begun with it leaves as it is.
type vars struct {
	known  map[string]strands
	shared bool
	rest   strands
}

func (v *vars) clone() vars {
	v.shared = true
	return *v
}

func (v vars) get(name string) strands {
	if s, ok := v.known[name]; ok {
		return s
	}
	return v.rest
}

func (v *vars) set(name string, s strands) {
	switch {
	case v.known == nil:
		v.known = map[string]strands{}
	case v.shared:
		v.known = maps.Clone(v.known)
	}
	v.shared = false
	v.known[name] = s
}

// any has every variable take more: whose name it is put under is not known.
func (v *vars) any(s strands) {
	v.rest = v.rest.and(s)
	for name, old := range v.known {
		if all := old.and(s); len(all) != len(old) {
			v.set(name, all)
		}
	}
}

func (v vars) all() strands {
	s := v.rest
	for _, name := range slices.Sorted(maps.Keys(v.known)) {
		s = s.and(v.known[name])
	}
	return s
}

// join takes in what holds on another way to the same spot, and tells whether
// that was more. A name that one way alone knows has, on the other, what all others
// have there: so no name loses what may stand in it.
func (v *vars) join(w vars) (more bool) {
	for name := range w.known {
		if _, there := v.known[name]; !there {
			v.set(name, v.rest)
		}
	}
	for name, old := range v.known {
		if all := old.and(w.get(name)); len(all) != len(old) {
			v.set(name, all)
			more = true
		}
	}
	all := v.rest.and(w.rest)
	more = more || len(all) != len(v.rest)
	v.rest = all
	return more
}

// A spot is what may stand where when a run is at one place.
type spot struct {
	input, state, outputs vars

	last     strands         // the output of the phase that released one last
	lineage  strands         // every output that was released
	said     strands         // why the phase before was left
	files    strands         // what was written: a tool that reads may bring it back
	previous map[string]bool // the phases that may have released one last
}

// vars are the variables below one that has others; nil of any other.
func (s *spot) vars(root string) *vars {
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

func newSpot() *spot { return &spot{previous: map[string]bool{}} }

func (s *spot) clone() *spot {
	own := *s
	own.input, own.state, own.outputs, own.previous = s.input.clone(), s.state.clone(), s.outputs.clone(), maps.Clone(s.previous)
	return &own
}

func (s *spot) join(o *spot) (more bool) {
	for _, pair := range [][2]*vars{{&s.input, &o.input}, {&s.state, &o.state}, {&s.outputs, &o.outputs}} {
		more = pair[0].join(*pair[1]) || more
	}
	for _, pair := range [][2]*strands{{&s.last, &o.last}, {&s.lineage, &o.lineage}, {&s.said, &o.said}, {&s.files, &o.files}} {
		all := pair[0].and(*pair[1])
		more = more || len(all) != len(*pair[0])
		*pair[0] = all
	}
	for name := range o.previous {
		more = more || !s.previous[name]
		s.previous[name] = true
	}
	return more
}

// size is how much there is to look at.
func (s *spot) size() int { return len(s.input.known) + len(s.state.known) + len(s.outputs.known) + 8 }

// key is the same for spots that have the same strands in the same places.
func (s *spot) key() string {
	var b strings.Builder
	put := func(name string, list strands) {
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
	put("said", s.said)
	put("files", s.files)
	return b.String()
}

// A view is what templates of a phase read at a spot.
type view struct {
	*spot
	locals  map[string]strands // of an item of each
	content strands            // of a check, or of a question to a person
}

// path is what a variable may have in it.
func (v view) path(path []string) strands {
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
		return v.said
	case "content", "output":
		return v.content
	}
	return nil
}

// value is what gets into a value by its templates.
func (v view) value(value any) strands {
	return v.values(cascades.Values{"": value})
}

func (v view) values(values cascades.Values) strands { return v.names(values.Names()) }

func (v view) template(t *templates.Template) strands {
	if t == nil {
		return nil
	}
	return v.names(t.Names())
}

func (v view) names(names []templates.Name) (s strands) {
	for _, n := range names {
		s = s.and(v.path(n.Path))
	}
	return s
}

// each gives every named value its own strands.
func (v view) each(values cascades.Values) (m vars) {
	for name, value := range values {
		m.set(name, v.value(value).at("input."+name))
	}
	return m
}
