// Package mutate measures gates by planted faults: it takes texts that passed
// their phase's checks, plants one fault in each of many copies, asks every
// check of the phase about each copy, and folds what they said.
//
// In comes a list of texts with what their run knew ([backtest.Text]); out comes
// a [Report]: of each operator and each gate how many faults were planted and
// caught, what a gate catches that no other does, and every fault that all of
// them let by, with its place. A check is given the subject that it would have
// been given in the run. A fault is caught where a check that counts says no,
// which an advisory one does not; that a check could not say is not a no. What a
// gate says no to before anything was planted it is not asked about again: it is
// told as a false block.
//
// Nothing here reads a clock or a file, and no order of goroutines shows: the
// same texts and seed give the same report however many work on it.
package mutate

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/backtest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/wards"
)

// A Test plants faults in texts and asks the checks of their phases.
type Test struct {
	Texts []backtest.Text
	Host  engine.Host // runs validators, and asks the model for judges

	Operators []faults.Operator // nil for the general ones; those that a gate publishes come in addition, and alone where the phase is a validator
	Phases    []string          // these alone; all where empty
	Seed      uint64
	Most      int  // faults of one operator in one text; 0 is [faults.Most]
	Judges    bool // ask judges, and cascades that are validators; they cost
	Exec      bool // run validators that are programs, servers or otherwise not pure
	Parallel  int  // texts and operators at a time; 1 where less

	// Identity gives the digest of what a gate of a phase of the root's cascade is,
	// and Label is told of every fault with what the gates said of it by those, in
	// the order of the texts. Both may be nil.
	Identity func(p *cascades.Phase, w *wards.Ward) string
	Label    func(measure.Label)

	// Progress is told how many of how many parts are done, one call at a time.
	Progress func(done, of int)
}

// Run plants and asks. An error is the host's.
func (t Test) Run(ctx context.Context) (*Report, error) {
	marks := t.marks()
	err := t.Host.Each(len(marks), max(t.Parallel, 1), func(h engine.Host, i int) error { return marks[i].baseline(h) })
	if err != nil {
		return nil, err
	}
	var shots []*shot
	for _, m := range marks {
		for _, op := range m.operators {
			shots = append(shots, &shot{mark: m, operator: op})
		}
	}
	var told sync.Mutex
	done := 0
	err = t.Host.Each(len(shots), max(t.Parallel, 1), func(h engine.Host, i int) error {
		if err := h.Stopped(); err != nil {
			return err
		}
		err := shots[i].fire(h)
		told.Lock()
		defer told.Unlock()
		if done++; t.Progress != nil && err == nil {
			t.Progress(done, len(shots))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, s := range shots {
		for _, l := range s.labels {
			t.Label(l)
		}
	}
	return t.report(marks, shots), nil
}

// Calls is how many calls of models the judges may cost at most: each vote, the
// second time of a no, and what is asked again where an answer is no verdict.
func (t Test) Calls() int {
	calls := 0
	for _, m := range t.marks() {
		each := 0
		for _, g := range m.gates {
			each += g.calls()
		}
		if each == 0 {
			continue
		}
		planted := 1 // the good text itself
		for _, op := range m.operators {
			planted += len((&shot{mark: m, operator: op}).plant(m.read()))
		}
		calls += planted * each
	}
	return calls
}

// marks are the texts that faults can be planted in. One that was released again,
// and that the gates would be given as before, is measured once: what they say is the
// same, and bears out nothing more.
func (t Test) marks() (list []*mark) {
	type given struct {
		to    *cascades.Phase
		alike string
	}
	seen := map[given]bool{}
	for _, text := range t.Texts {
		if len(t.Phases) > 0 && !slices.Contains(t.Phases, text.Phase.Name) {
			continue
		}
		one := given{text.Phase, text.Alike()}
		if one.alike != "" && seen[one] {
			continue
		}
		seen[one] = true
		if m := t.aim(text); m.content != "" {
			list = append(list, m)
		}
	}
	return list
}

// A mark is a text with the gates that judge it.
type mark struct {
	backtest.Text
	test      Test
	content   string // what the faults are planted in
	gates     []gate
	operators []faults.Operator
	refused   []Refused // of the good text
	unsaid    []bool    // of each gate: it is not asked about this text
	text      *faults.Text
	once      sync.Once
}

// aim finds the gates and operators of a text.
func (t Test) aim(text backtest.Text) *mark {
	m := &mark{Text: text, test: t, content: text.Said.Text, gates: gatesOf(text.Phase), operators: t.Operators}
	if m.operators == nil {
		m.operators = faults.General()
	}
	if v := text.Phase.Tool; v != nil && v.Validator != nil {
		// As a text it was judged where it was said: here are the gate's own faults.
		m.content, m.operators = m.looksAt(), []faults.Operator{}
	}
	for i := range m.gates {
		if m.gates[i].allowed = m.gates[i].leftOut(t) == ""; !m.gates[i].allowed {
			continue // its own faults are nobody else's to find
		}
		for _, op := range m.gates[i].validator().Faults {
			if !slices.ContainsFunc(m.operators, func(o faults.Operator) bool { return o.Name == op.Name }) {
				m.operators = append(slices.Clip(m.operators), op)
			}
		}
	}
	if !slices.ContainsFunc(m.gates, func(g gate) bool { return g.allowed }) {
		m.operators = nil // nobody would be asked
	}
	m.unsaid = make([]bool, len(m.gates))
	return m
}

// read reads the text once.
func (m *mark) read() *faults.Text {
	m.once.Do(func() {
		known := faults.Known{Given: m.Known(), Most: m.test.Most}
		if s := m.Phase.OutputSchema; s != nil {
			known.Schema = s.Source()
		}
		m.text = faults.Read(m.content, known)
	})
	return m.text
}

// baseline asks about the good text itself.
func (m *mark) baseline(h engine.Host) error {
	answers, err := m.ask(h, m.content)
	if err != nil {
		return err
	}
	for i, a := range answers {
		if a.asked && (a.unsaid != "" || a.no) {
			m.unsaid[i] = true
			m.refused = append(m.refused, Refused{
				Run: m.Run, Path: string(m.Path), Phase: m.phase(), Gate: m.gates[i].String(), Mode: m.gates[i].mode(), Reason: a.reason, Unsaid: a.unsaid,
			})
		}
	}
	return nil
}

// phase names the text's phase, with its cascade where that is one within.
func (m *mark) phase() string {
	if m.Cascade != "" {
		return m.Cascade + "/" + m.Phase.Name
	}
	return m.Phase.Name
}

// A shot is one operator's faults in one text, and what was said of each.
type shot struct {
	*mark
	operator faults.Operator
	faults   []faults.Fault
	answers  [][]answer // by fault, then by gate
	labels   []measure.Label
}

// plant makes the faults. What is random hangs on the seed, the text and the
// operator, never on what else is planted.
func (s *shot) plant(t *faults.Text) []faults.Fault {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s", s.phase(), s.operator.Name, s.content)
	found := s.operator.Apply(t, rand.New(rand.NewPCG(s.test.Seed, h.Sum64())))
	return slices.DeleteFunc(found, func(f faults.Fault) bool { return f.Text == s.content })
}

func (s *shot) fire(h engine.Host) error {
	s.faults = s.plant(s.read())
	for i, f := range s.faults {
		answers, err := s.ask(h, f.Text)
		if err != nil {
			return err
		}
		s.answers = append(s.answers, answers)
		s.label(f, answers)
		s.faults[i].Text = excerpt(f.Text, s.content)
	}
	return nil
}

// label notes the fault as a label, with what those gates said that were asked.
func (s *shot) label(f faults.Fault, answers []answer) {
	if s.test.Label == nil || s.test.Identity == nil || s.Cascade != "" {
		return
	}
	l := measure.Label{
		Text: measure.TextDigest(f.Text), Phase: s.Phase.Name, Gate: measure.All, Reason: f.Place + ": " + f.Note,
		Planted: s.operator.Name, Sure: string(f.Sure), Verdicts: map[string]bool{},
	}
	for i, a := range answers {
		if digest := s.test.Identity(s.Phase, s.gates[i].ward); a.asked && a.unsaid == "" && digest != "" {
			l.Verdicts[digest] = !a.no
		}
	}
	s.labels = append(s.labels, l)
}
