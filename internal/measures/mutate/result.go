package mutate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/internal/faults"
)

// A Result is the report of the planted faults. The counts of a gate are of the faults that it
// caught. All other counts are of the faults that any counting gate caught.
type Result struct {
	CascadeID   string       `json:"cascade_id"`
	Seed        uint64       `json:"seed"`
	Texts       int          `json:"texts"`   // texts with planted faults
	Planted     int          `json:"planted"` // all faults
	Always      Count        `json:"always"`  // faults that always make a text bad
	Usually     Count        `json:"usually"` // faults that usually make a text bad
	Phases      []Phase      `json:"phases"`
	Survivors   []Survivor   `json:"survivors"`    // faults that no counting gate caught
	FalseBlocks []FalseBlock `json:"false_blocks"` // good texts that a gate rejects, or cannot judge
	NotAsked    []NotAsked   `json:"not_asked"`    // gates that were not asked
	Unguarded   []string     `json:"unguarded"`    // phases whose text no gate judges
}

// A Phase counts the faults that the gates of one phase caught.
type Phase struct {
	Phase     string     `json:"phase"` // a phase of a nested cascade is name/phase
	Texts     int        `json:"texts"`
	Always    Count      `json:"always"`
	Usually   Count      `json:"usually"`
	Expect    float64    `json:"expect,omitempty"` // the minimum share of Always that the file requires
	Operators []Operator `json:"operators"`
	Gates     []Gate     `json:"gates"`
}

// An Operator counts the caught faults of one kind.
type Operator struct {
	Operator string         `json:"operator"`
	Sure     faults.Surety  `json:"sure"`
	Caught   Count          `json:"caught"`
	By       map[string]int `json:"by"` // caught faults of each gate
}

// A Gate counts the faults that one check caught.
type Gate struct {
	Gate      string `json:"gate"` // its moment and name
	Mode      string `json:"mode"`
	Asked     bool   `json:"asked"`
	Always    Count  `json:"always"`
	Usually   Count  `json:"usually"`
	Only      int    `json:"only"`       // faults that no other gate caught
	NoVerdict int    `json:"no_verdict"` // faults without a verdict of the gate
}

// Useless reports whether the gate was asked and caught nothing.
func (g Gate) Useless() bool {
	return g.Asked && g.Always.K+g.Usually.K == 0 && g.Always.N+g.Usually.N > 0
}

// A Survivor is a fault that passed all gates.
type Survivor struct {
	Run       string        `json:"run_id"`
	Path      string        `json:"path"` // of the attempt with the text
	Phase     string        `json:"phase"`
	Operator  string        `json:"operator"`
	Sure      faults.Surety `json:"sure"`
	Place     string        `json:"place"` // in the text
	Note      string        `json:"note"`
	Text      string        `json:"text"`                 // the changed part
	Advisory  []string      `json:"advisory,omitempty"`   // advisory gates that rejected the text
	NoVerdict []string      `json:"no_verdict,omitempty"` // gates that could not decide
}

// A FalseBlock is a good text that a gate rejects, or cannot judge.
type FalseBlock struct {
	Run       string `json:"run_id"`
	Path      string `json:"path"`
	Phase     string `json:"phase"`
	Gate      string `json:"gate"`
	Mode      string `json:"mode"`
	Reason    string `json:"reason"`
	NoVerdict string `json:"no_verdict,omitempty"`
}

// A NotAsked is a gate that was not asked, with the reason.
type NotAsked struct {
	Phase  string `json:"phase"`
	Gate   string `json:"gate"`
	Reason string `json:"reason"`
}

// Below reports whether the caught share of the faults that are always bad is below a minimum.
// Without such faults the share is unknown, and Below returns true.
func (r *Result) Below(least float64) bool { return !r.Always.AtLeast(least) }

// Unmet returns the phases that do not catch the share that the file requires.
func (r *Result) Unmet() []Phase {
	return slices.DeleteFunc(slices.Clone(r.Phases), func(p Phase) bool {
		return p.Expect == 0 || p.Always.AtLeast(p.Expect)
	})
}

// report builds the result in the order of the texts.
func (t Test) report(targets []*target, plantings []*planting) *Result {
	r := &Result{
		Seed: t.Seed, Phases: []Phase{}, Survivors: []Survivor{}, FalseBlocks: []FalseBlock{}, NotAsked: []NotAsked{}, Unguarded: []string{},
	}
	b := builder{Result: r, phases: map[string]*tally{}}
	for _, m := range targets {
		b.target(m)
	}
	for _, s := range plantings {
		for i := range s.faults {
			b.fault(s, i)
		}
	}
	for _, name := range b.order {
		b.done(b.phases[name])
	}
	return r
}

// A builder builds a result.
type builder struct {
	*Result
	phases map[string]*tally
	order  []string
}

// A tally counts the faults of a phase.
type tally struct {
	Phase
	operators map[[2]string]*Operator
	names     []string // of its gates
}

func (b *builder) target(m *target) {
	if b.CascadeID == "" && m.Cascade == "" {
		b.CascadeID = m.CascadeID()
	}
	b.FalseBlocks = append(b.FalseBlocks, m.falseBlocks...)
	name := m.phase()
	t := b.phases[name]
	if t == nil {
		if len(m.gates) == 0 {
			if !slices.Contains(b.Unguarded, name) && m.Phase.Tool == nil {
				b.Unguarded = append(b.Unguarded, name)
			}
			return
		}
		t = &tally{Phase: Phase{Phase: name, Expect: m.Phase.Caught}, operators: map[[2]string]*Operator{}, names: gateNames(m.gates)}
		b.phases[name], b.order = t, append(b.order, name)
		for i, g := range m.gates {
			t.Gates = append(t.Gates, Gate{Gate: t.names[i], Mode: g.mode(), Asked: g.allowed})
			if reason := g.notAsked(m.test); reason != "" {
				b.NotAsked = append(b.NotAsked, NotAsked{name, t.names[i], reason})
			}
		}
	}
	if len(m.operators) > 0 {
		t.Texts++
		b.Texts++
	}
}

// gateNames returns the names of gates, with a number if a name occurs twice.
func gateNames(gates []gate) []string {
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
func (b *builder) fault(s *planting, i int) {
	f, answers, t := s.faults[i], s.answers[i], b.phases[s.phase()]
	key := [2]string{s.operator.Name, string(f.Sure)}
	op := t.operators[key]
	if op == nil {
		op = &Operator{Operator: s.operator.Name, Sure: f.Sure, By: map[string]int{}}
		t.operators[key] = op
	}
	survivor := Survivor{
		Run: s.Run, Path: string(s.Path), Phase: t.Phase.Phase, Operator: op.Operator, Sure: f.Sure, Place: f.Place, Note: f.Note, Text: f.Text,
	}
	var by []int
	for j, a := range answers {
		if !a.asked {
			continue
		}
		g := &t.Gates[j]
		countOf(f.Sure, &g.Always, &g.Usually).Add(a.rejected)
		switch {
		case a.noVerdict != "":
			g.NoVerdict++
			survivor.NoVerdict = append(survivor.NoVerdict, t.names[j]+": "+a.noVerdict)
		case a.rejected:
			op.By[t.names[j]]++
			if !s.gates[j].counts() {
				survivor.Advisory = append(survivor.Advisory, t.names[j])
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
	countOf(f.Sure, &t.Always, &t.Usually).Add(caught)
	countOf(f.Sure, &b.Always, &b.Usually).Add(caught)
	if b.Planted++; !caught {
		b.Survivors = append(b.Survivors, survivor)
	}
}

func countOf(s faults.Surety, always, usually *Count) *Count {
	if s == faults.Always {
		return always
	}
	return usually
}

// done adds the phase to the result. Its operators are sorted by surety and name.
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
