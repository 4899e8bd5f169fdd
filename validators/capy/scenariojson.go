package capy

import (
	"bytes"
)

func (s *scenarios) json(e *event) {
	if e.depth >= maxPath {
		return
	}
	switch e.kind {
	case opens:
		s.open(e)
	case closes:
		s.settle(e)
	case scalar:
		s.scalar(e)
	}
}

func (s *scenarios) open(e *event) {
	f := &s.stack[e.depth]
	*f = scenarioFrame{}
	if n := int(e.class.scenario); n <= scenarioCount {
		f.n = n
	}
}

// scalar notes what one value says of the object that it is in.
func (s *scenarios) scalar(e *event) {
	if e.depth == 0 {
		return
	}
	f := &s.stack[e.depth-1]
	f.state = f.state || stateField(e.key)
	if len(e.value) > 2 && e.value[0] == '"' && idField(e.key) {
		if n, many := scenarioToken(bytes.ReplaceAll(e.value, []byte("_"), []byte(" "))); n > 0 && !many {
			f.n = n
		}
		return
	}
	if !hasDigit(e.value) || placeholder(e.value) {
		return
	}
	n := 0
	if e.class.scenario <= scenarioCount {
		n = int(e.class.scenario) // "S1": 0.3 inside "probabilities"
	}
	p, m := e.class.prob, e.class.mag
	for i := len(e.path) - 1; i >= 0 && !p && !m; i-- {
		p, m = e.path[i].class.prob, e.path[i].class.mag
		if s.stack[i].n > 0 && n == 0 {
			break
		}
	}
	if n > 0 {
		s.note(n, p, m, e)
		return
	}
	if p && f.p.line == 0 {
		f.p = e.at
	}
	if p && f.chance.metric == none && (e.class.prob || e.class.leaf && e.path[len(e.path)-1].class.prob) {
		if v, ok := jsonNumber(e.value); ok {
			f.chance = statement{metric: probability, value: v.value, percent: v.percent, at: e.at, json: true}
		}
	}
	if m && f.m.line == 0 {
		f.m = e.at
	}
}

func (s *scenarios) note(n int, p, m bool, e *event) {
	s.name(n, e.at)
	if p && s.seen[n].p.line == 0 {
		s.seen[n].p = e.at
	}
	if v, ok := jsonNumber(e.value); ok && p && s.prob[n].metric == none {
		s.prob[n] = statement{metric: probability, value: v.value, percent: v.percent, at: e.at, json: true}
	}
	if m && s.seen[n].m.line == 0 {
		s.seen[n].m = e.at
	}
}

// idField is a key whose value says which scenario an object is.
func idField(key []byte) bool {
	l := tokens(key)
	return l.has("id", "scenario", "name", "label", "code", "handle", "key", "title")
}

// stateField is a key that a joint state has and a scenario has not.
func stateField(key []byte) bool {
	l := tokens(key)
	return l.has("state", "combination", "configuration", "bitmask", "mask", "active") && !l.has("ivps", "value", "current")
}

// settle gives what an object said to its scenario, or to the object around.
func (s *scenarios) settle(e *event) {
	f := &s.stack[e.depth]
	if f.n == 0 {
		if e.depth > 0 {
			up := &s.stack[e.depth-1]
			if up.p.line == 0 {
				up.p = f.p
			}
			if up.m.line == 0 {
				up.m = f.m
			}
		}
		return
	}
	if f.state {
		return
	}
	s.name(f.n, e.at)
	if s.seen[f.n].p.line == 0 {
		s.seen[f.n].p = f.p
	}
	if s.seen[f.n].m.line == 0 {
		s.seen[f.n].m = f.m
	}
	if s.prob[f.n].metric == none {
		s.prob[f.n] = f.chance
	}
}
