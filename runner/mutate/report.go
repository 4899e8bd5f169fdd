package mutate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/validators/faults"
)

// A Report is what gates make of planted faults. The counts of a gate are of the faults that it
// caught. All other counts are of the faults that a gate that counts caught.
type Report struct {
	CascadeID string     `json:"cascade_id"`
	Seed      uint64     `json:"seed"`
	Texts     int        `json:"texts"`   // that faults were planted in
	Planted   int        `json:"planted"` // of both sureties
	Always    Count      `json:"always"`  // of the faults that are bad for sure
	Usually   Count      `json:"usually"` // of the others
	Phases    []Phase    `json:"phases"`
	Survivors []Survivor `json:"survivors"` // faults that no gate that counts has caught
	Refused   []Refused  `json:"refused"`   // good texts that a gate refuses, or cannot judge, as they are
	LeftOut   []LeftOut  `json:"left_out"`  // gates that were not asked
	Unguarded []string   `json:"unguarded"` // phases whose text no gate judges
}

// A Phase is what the gates of one phase caught.
type Phase struct {
	Phase     string     `json:"phase"` // with its cascade in front where that is one within: name/phase
	Texts     int        `json:"texts"`
	Always    Count      `json:"always"`
	Usually   Count      `json:"usually"`
	Expect    float64    `json:"expect,omitempty"` // the least share of always that the file asks for
	Operators []Operator `json:"operators"`
	Gates     []Gate     `json:"gates"`
}

// An Operator is what was caught of one kind of fault.
type Operator struct {
	Operator string         `json:"operator"`
	Sure     faults.Surety  `json:"sure"`
	Caught   Count          `json:"caught"`
	By       map[string]int `json:"by"` // how many each gate catches, by itself
}

// A Gate is what one check caught by itself.
type Gate struct {
	Gate    string `json:"gate"` // its moment and name
	Mode    string `json:"mode"`
	Asked   bool   `json:"asked"`
	Always  Count  `json:"always"`
	Usually Count  `json:"usually"`
	Only    int    `json:"only"`   // faults that no other gate caught: what it adds
	Unsaid  int    `json:"unsaid"` // faults of which it could not say anything
}

// Useless tells whether a gate that was asked has never caught anything.
func (g Gate) Useless() bool {
	return g.Asked && g.Always.K+g.Usually.K == 0 && g.Always.N+g.Usually.N > 0
}

// A Survivor is a fault that passes.
type Survivor struct {
	Run      string        `json:"run_id"`
	Path     string        `json:"path"` // of the attempt that gave the text
	Phase    string        `json:"phase"`
	Operator string        `json:"operator"`
	Sure     faults.Surety `json:"sure"`
	Place    string        `json:"place"` // in the text
	Note     string        `json:"note"`
	Text     string        `json:"text"`             // what stands there now
	Noted    []string      `json:"noted,omitempty"`  // advisory gates that said no
	Unsaid   []string      `json:"unsaid,omitempty"` // gates that could not say
}

// A Refused is a good text that a gate says no to as it is, or cannot judge.
type Refused struct {
	Run    string `json:"run_id"`
	Path   string `json:"path"`
	Phase  string `json:"phase"`
	Gate   string `json:"gate"`
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
	Unsaid string `json:"unsaid,omitempty"`
}

// A LeftOut is a gate that was not asked, and why.
type LeftOut struct {
	Phase string `json:"phase"`
	Gate  string `json:"gate"`
	Why   string `json:"why"`
}

// Below reports whether less than this share of the faults that are bad for sure was caught.
// Without such faults the share is unknown, and Below returns true.
func (r *Report) Below(least float64) bool { return !r.Always.AtLeast(least) }

// Unmet lists the phases that catch less than their file asks for.
func (r *Report) Unmet() []Phase {
	return slices.DeleteFunc(slices.Clone(r.Phases), func(p Phase) bool {
		return p.Expect == 0 || p.Always.AtLeast(p.Expect)
	})
}

// report folds what was said, in the order of the texts.
func (t Test) report(marks []*mark, shots []*shot) *Report {
	r := &Report{
		Seed: t.Seed, Phases: []Phase{}, Survivors: []Survivor{}, Refused: []Refused{}, LeftOut: []LeftOut{}, Unguarded: []string{},
	}
	b := builder{Report: r, phases: map[string]*tally{}}
	for _, m := range marks {
		b.mark(m)
	}
	for _, s := range shots {
		for i := range s.faults {
			b.fault(s, i)
		}
	}
	for _, name := range b.order {
		b.done(b.phases[name])
	}
	return r
}

// A builder adds up.
type builder struct {
	*Report
	phases map[string]*tally
	order  []string
}

// A tally is a phase in the making.
type tally struct {
	Phase
	operators map[[2]string]*Operator
	names     []string // of its gates
}

func (b *builder) mark(m *mark) {
	if b.CascadeID == "" && m.Cascade == "" {
		b.CascadeID = m.CascadeID()
	}
	b.Refused = append(b.Refused, m.refused...)
	name := m.phase()
	t := b.phases[name]
	if t == nil {
		if len(m.gates) == 0 {
			if !slices.Contains(b.Unguarded, name) && m.Phase.Tool == nil {
				b.Unguarded = append(b.Unguarded, name)
			}
			return
		}
		t = &tally{Phase: Phase{Phase: name, Expect: m.Phase.Expect.Caught}, operators: map[[2]string]*Operator{}, names: named(m.gates)}
		b.phases[name], b.order = t, append(b.order, name)
		for i, g := range m.gates {
			t.Gates = append(t.Gates, Gate{Gate: t.names[i], Mode: g.mode(), Asked: g.allowed})
			if why := g.leftOut(m.test); why != "" {
				b.LeftOut = append(b.LeftOut, LeftOut{name, t.names[i], why})
			}
		}
	}
	if len(m.operators) > 0 {
		t.Texts++
		b.Texts++
	}
}

// named are the names of gates, with a number where one would stand twice.
func named(gates []gate) []string {
	var names []string
	for i, g := range gates {
		name := g.String()
		for n := 2; slices.Contains(names[:i], name); n++ {
			name = fmt.Sprintf("%s[%d]", g, n)
		}
		names = append(names, name)
	}
	return names
}

// fault counts one planted fault.
func (b *builder) fault(s *shot, i int) {
	f, answers, t := s.faults[i], s.answers[i], b.phases[s.phase()]
	key := [2]string{s.operator.Name, string(f.Sure)}
	op := t.operators[key]
	if op == nil {
		op = &Operator{Operator: s.operator.Name, Sure: f.Sure, By: map[string]int{}}
		t.operators[key] = op
	}
	lived := Survivor{
		Run: s.Run, Path: string(s.Path), Phase: t.Phase.Phase, Operator: op.Operator, Sure: f.Sure, Place: f.Place, Note: f.Note, Text: f.Text,
	}
	var by []int
	for j, a := range answers {
		if !a.asked {
			continue
		}
		g := &t.Gates[j]
		of(f.Sure, &g.Always, &g.Usually).Add(a.no)
		switch {
		case a.unsaid != "":
			g.Unsaid++
			lived.Unsaid = append(lived.Unsaid, t.names[j]+": "+a.unsaid)
		case a.no:
			op.By[t.names[j]]++
			if !s.gates[j].counts() {
				lived.Noted = append(lived.Noted, t.names[j])
				continue
			}
			by = append(by, j)
		}
	}
	if len(by) == 1 {
		t.Gates[by[0]].Only++
	}
	caught := len(by) > 0
	op.Caught.Add(caught)
	of(f.Sure, &t.Always, &t.Usually).Add(caught)
	of(f.Sure, &b.Always, &b.Usually).Add(caught)
	if b.Planted++; !caught {
		b.Survivors = append(b.Survivors, lived)
	}
}

func of(s faults.Surety, always, usually *Count) *Count {
	if s == faults.Always {
		return always
	}
	return usually
}

// done closes a phase's tally: its operators in the order of their names, what is
// bad for sure first.
func (b *builder) done(t *tally) {
	t.Operators = []Operator{}
	for _, op := range t.operators {
		t.Operators = append(t.Operators, *op)
	}
	slices.SortFunc(t.Operators, func(x, y Operator) int {
		return cmp.Or(cmp.Compare(x.Sure, y.Sure), cmp.Compare(x.Operator, y.Operator))
	})
	b.Phases = append(b.Phases, t.Phase)
}
