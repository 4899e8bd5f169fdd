// Package mutate measures gates by planted faults. It takes texts that passed the checks of
// their phase, plants one fault in each copy, and asks every check of the phase about each copy.
//
// The input is a list of texts with the state of their run ([backtest.Text]). The output is a
// [Result]. For each operator and each gate it has the faults that were planted and caught,
// the faults that no other gate caught, and every fault that passed all gates, with its place.
//
// A check gets the same subject as in the run. A fault is caught if a check that is not advisory
// rejects the text; an error is no rejection. If a gate rejects a text without a fault, that is a
// false block, and the gate is not asked about copies of the text.
//
// The same texts and seed give the same result, in any order of goroutines.
package mutate

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/wards"
)

// A Test plants faults in texts and asks the checks of their phases.
type Test struct {
	Texts []backtest.Text
	Host  engine.Host // runs validators and calls the model of judges

	Operators []faults.Operator // nil for the general ones; gates add their own, which a phase that is a validator uses alone
	Phase     string            // only this phase; "" for all
	Seed      uint64
	Most      int  // faults of one operator in one text; 0 is [faults.Most]
	Judges    bool // run judges and cascades that are validators, which call models
	Exec      bool // run validators that are programs or servers, or are not pure
	Parallel  int  // maximum number of concurrent texts and operators; at least 1

	// Identity returns the digest of a gate of the cascade. Label is called with every fault and
	// its verdicts by digest, in the order of the texts. Both may be nil.
	Identity func(p *cascades.Phase, w *wards.Ward) string
	Label    func(stats.Label)

	// Progress is called with the number of finished parts, from one goroutine at a time.
	Progress func(done, countOf int)
}

// Run plants the faults and runs the gates. It returns the errors of the host.
func (t Test) Run(ctx context.Context) (*Result, error) {
	targets := t.targets()
	err := t.Host.Each(len(targets), max(t.Parallel, 1), func(h engine.Host, i int) error { return targets[i].baseline(h) })
	if err != nil {
		return nil, err
	}
	var plantings []*planting
	for _, m := range targets {
		for _, op := range m.operators {
			plantings = append(plantings, &planting{target: m, operator: op})
		}
	}
	var mu sync.Mutex
	done := 0
	err = t.Host.Each(len(plantings), max(t.Parallel, 1), func(h engine.Host, i int) error {
		if err := h.Stopped(); err != nil {
			return err
		}
		err := plantings[i].judge(h)
		mu.Lock()
		defer mu.Unlock()
		if done++; t.Progress != nil && err == nil {
			t.Progress(done, len(plantings))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, s := range plantings {
		for _, l := range s.labels {
			t.Label(l)
		}
	}
	return t.report(targets, plantings), nil
}

// Calls returns the maximum number of model calls of the judges: each vote, each confirmation, and
// each repeated request.
func (t Test) Calls() int {
	calls := 0
	for _, m := range t.targets() {
		each := 0
		for _, g := range m.gates {
			each += g.calls()
		}
		if each == 0 {
			continue
		}
		planted := 1 // the unchanged text
		for _, op := range m.operators {
			planted += len((&planting{target: m, operator: op}).plant(m.read()))
		}
		calls += planted * each
	}
	return calls
}

// targets returns the texts that get faults. Texts that are equal for their gates count once.
func (t Test) targets() (list []*target) {
	type given struct {
		to    *cascades.Phase
		alike string
	}
	seen := map[given]bool{}
	for _, text := range t.Texts {
		if t.Phase != "" && t.Phase != text.Phase.Name {
			continue
		}
		one := given{text.Phase, text.Key()}
		if one.alike != "" && seen[one] {
			continue
		}
		seen[one] = true
		if m := t.newTarget(text); m.content != "" {
			list = append(list, m)
		}
	}
	return list
}

// A target is a text with its gates.
type target struct {
	backtest.Text
	test        Test
	content     string // the text that gets faults
	gates       []gate
	operators   []faults.Operator
	falseBlocks []FalseBlock // of the unchanged text
	excluded    []bool       // gates that do not run on this text
	text        *faults.Text
	once        sync.Once
}

// newTarget finds the gates and operators of a text.
func (t Test) newTarget(text backtest.Text) *target {
	m := &target{Text: text, test: t, content: text.Recorded.Text, gates: gatesOf(text.Phase), operators: t.Operators}
	if m.operators == nil {
		m.operators = faults.General()
	}
	if v := text.Phase.Tool; v != nil && v.Validator != nil {
		// The text was already judged in its own phase, so that only the faults of the validator
		// count.
		m.content, m.operators = m.contentText(), []faults.Operator{}
	}
	for i := range m.gates {
		if m.gates[i].allowed = m.gates[i].notAsked(t) == ""; !m.gates[i].allowed {
			continue // no other gate has to find its faults
		}
		for _, op := range m.gates[i].validator().Faults {
			if !slices.ContainsFunc(m.operators, func(o faults.Operator) bool { return o.Name == op.Name }) {
				m.operators = append(slices.Clip(m.operators), op)
			}
		}
	}
	if !slices.ContainsFunc(m.gates, func(g gate) bool { return g.allowed }) {
		m.operators = nil // no gate may run
	}
	m.excluded = make([]bool, len(m.gates))
	return m
}

// read reads the text once.
func (m *target) read() *faults.Text {
	m.once.Do(func() {
		known := faults.Known{Given: m.Sources(), Most: m.test.Most}
		if s := m.Phase.OutputSchema; s != nil {
			known.Schema = s.Source()
		}
		m.text = faults.Read(m.content, known)
	})
	return m.text
}

// baseline runs the gates on the unchanged text.
func (m *target) baseline(h engine.Host) error {
	answers, err := m.ask(h, m.content)
	if err != nil {
		return err
	}
	for i, a := range answers {
		if a.asked && (a.noVerdict != "" || a.rejected) {
			m.excluded[i] = true
			m.falseBlocks = append(m.falseBlocks, FalseBlock{
				Run: m.Run, Path: string(m.Path), Phase: m.phase(), Gate: m.gates[i].String(), Mode: m.gates[i].mode(), Reason: a.reason, NoVerdict: a.noVerdict,
			})
		}
	}
	return nil
}

// phase returns the phase of the text, with the name of a nested cascade.
func (m *target) phase() string {
	if m.Cascade != "" {
		return m.Cascade + "/" + m.Phase.Name
	}
	return m.Phase.Name
}

// A planting is the faults of one operator in one text, with their answers.
type planting struct {
	*target
	operator faults.Operator
	faults   []faults.Fault
	answers  [][]answer // by fault, then by gate
	labels   []stats.Label
}

// plant returns the faults. Random choices depend only on the seed, the text and the operator.
func (s *planting) plant(t *faults.Text) []faults.Fault {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s", s.phase(), s.operator.Name, s.content)
	found := s.operator.Apply(t, rand.New(rand.NewPCG(s.test.Seed, h.Sum64())))
	return slices.DeleteFunc(found, func(f faults.Fault) bool { return f.Text == s.content })
}

func (s *planting) judge(h engine.Host) error {
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

// label stores the fault as a label, with the verdicts of its gates.
func (s *planting) label(f faults.Fault, answers []answer) {
	if s.test.Label == nil || s.test.Identity == nil || s.Cascade != "" {
		return
	}
	l := stats.Label{
		Text: stats.TextDigest(f.Text), Phase: s.Phase.Name, Gate: stats.All, Reason: f.Place + ": " + f.Note,
		Planted: s.operator.Name, Sure: string(f.Sure), Verdicts: map[string]bool{},
	}
	for i, a := range answers {
		if digest := s.test.Identity(s.Phase, s.gates[i].Ward); a.asked && a.noVerdict == "" && digest != "" {
			l.Verdicts[digest] = !a.rejected
		}
	}
	s.labels = append(s.labels, l)
}
