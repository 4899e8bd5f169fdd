package mutate

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// filter is the moment of the validator of soundings.
const filter = "filter"

// whole is the moment of a phase that is a validator.
const whole = "gate"

// A gate is one check of a phase at its place.
type gate struct {
	moment  string
	check   *cascades.Check // nil for output_schema
	ward    *wards.Ward
	allowed bool // it may be asked
}

func (g gate) String() string {
	if g.ward.Name == g.moment {
		return g.moment
	}
	return g.moment + " " + g.ward.Name
}

// gatesOf lists the checks that see a phase's final text, in the order in which
// they come. A phase that is a validator has itself.
func gatesOf(p *cascades.Phase) []gate {
	var list []gate
	if p.Tool != nil && p.Tool.Validator != nil {
		v := p.Tool.Validator
		w := &wards.Ward{Name: v.Name, Moment: wards.Post, Mode: wards.Blocking}
		return append(list, gate{moment: whole, check: &cascades.Check{Ward: w, Validator: v}, ward: w})
	}
	add := func(moment string, checks ...*cascades.Check) {
		for _, c := range checks {
			list = append(list, gate{moment: moment, check: remembering(c), ward: c.Ward})
		}
	}
	add(string(wards.Turn), p.Wards.Turn...)
	if p.OutputSchema != nil {
		list = append(list, gate{moment: string(wards.OutputSchema), ward: p.SchemaWard})
	}
	if p.Rules.Loop != nil {
		add(string(wards.LoopUntil), p.Rules.Loop)
	}
	if p.Soundings != nil && p.Soundings.Filter != nil {
		add(filter, p.Soundings.Filter)
	}
	add(string(wards.Post), p.Wards.Post...)
	return list
}

// remembering is a check that makes its validator's parameters ready once for all
// texts that have the same: of a source, often as long as the text itself, they
// would be made ready for every fault.
func remembering(c *cascades.Check) *cascades.Check {
	if c.Validator.Bind == nil || !c.Validator.Pure {
		return c
	}
	own, v := *c, *c.Validator
	var m sync.Mutex
	var last map[string]any
	var check validators.Check
	v.Bind = func(with map[string]any) (validators.Check, error) {
		m.Lock()
		defer m.Unlock()
		if check != nil && reflect.DeepEqual(with, last) {
			return check, nil
		}
		made, err := c.Validator.Bind(with)
		if err == nil {
			check, last = made, with
		}
		return made, err
	}
	own.Validator = &v
	return &own
}

func (g gate) validator() *cascades.Validator {
	if g.check == nil {
		return &cascades.Validator{Pure: true}
	}
	return g.check.Validator
}

// leftOut says why the gate may not be asked; "" where it may.
func (g gate) leftOut(t Test) string {
	switch v := g.validator(); {
	case (v.Criteria != nil || v.Cascade != nil) && !t.Judges:
		return "it may ask a model: --judges asks it"
	case v.Criteria == nil && v.Cascade == nil && !v.Pure && !t.Exec:
		return "it runs a program or reaches out: --run-programs runs it"
	}
	return ""
}

// counts tells whether a no of the gate keeps a text from being released.
func (g gate) counts() bool { return wards.Outcome{Ward: g.ward}.Refuses() }

func (g gate) mode() string { return string(g.ward.Mode) }

// answersAsked is how often a judge is asked where it answers nonsense.
const answersAsked = 3

// calls is how many calls of models one question may cost; of a cascade one at
// the least, which is all that can be known of it here.
func (g gate) calls() int {
	v := g.validator()
	switch {
	case !g.allowed || v.Criteria == nil && v.Cascade == nil:
		return 0
	case v.Cascade != nil:
		return max(v.Cascade.Plan().Total.ModelCalls, 1)
	}
	n := answersAsked * max(v.Votes, 1)
	if v.Confirm {
		n *= 2
	}
	return n
}

// An answer is what a gate said of one text.
type answer struct {
	asked  bool
	no     bool
	reason string
	unsaid string // why it could not say
}

// ask asks every gate that may be asked about a text.
func (m *mark) ask(h engine.Host, text string) ([]answer, error) {
	answers := make([]answer, len(m.gates))
	past := m.Past(h)
	said := m.Said
	said.Text = text
	var turn, final validators.Subject
	var unfit bool
	made := false
	for i, g := range m.gates {
		if !g.allowed || m.unsaid[i] {
			continue
		}
		if !made && g.moment != whole {
			turn = past.Subject(said)
			var outcomes []wards.Outcome
			final, outcomes = past.Final(said)
			unfit, made = len(outcomes) > 0 && outcomes[0].Failed(), true
			for j := range m.gates {
				if len(outcomes) > 0 && m.gates[j].ward == outcomes[0].Ward && !m.unsaid[j] {
					answers[j] = answered(outcomes[0])
				}
			}
		}
		var o wards.Outcome
		var err error
		switch g.moment {
		case whole:
			o, err = m.On(contentOf(text)).Past(h).Gate(said)
		case string(wards.OutputSchema):
			continue // said with the subject
		case string(wards.Turn), string(wards.LoopUntil):
			o, err = past.Check(said, g.check, turn)
		default:
			o, err = past.Check(said, g.check, final)
		}
		if err != nil {
			return nil, err
		}
		if o.Err != nil && unfit && g.check.Validator.Pure {
			continue // it cannot read a text that broke its schema, which another has refused
		}
		answers[i] = answered(o)
	}
	return answers, nil
}

func answered(o wards.Outcome) answer {
	a := answer{asked: true, no: o.Failed(), reason: validators.OneLine(o.Verdict.Reason, 300)}
	if o.Err != nil {
		a.unsaid = validators.OneLine(o.Err.Error(), 300)
	}
	return a
}

// looksAt is what a phase that is a validator looks at, as a text.
func (m *mark) looksAt() string {
	content, given := m.Content()
	if !given || content == nil {
		return ""
	}
	if text, ok := content.(string); ok {
		return text
	}
	text, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	return string(text)
}

// contentOf is a text as such a phase is given it.
func contentOf(text string) any {
	if t := strings.TrimSpace(text); t != "" && strings.IndexByte("{[", t[0]) >= 0 {
		if v, err := schema.Parse([]byte(t)); err == nil {
			return v
		}
	}
	return text
}

// excerpt is the line of a changed text where it first differs from the good one.
func excerpt(changed, good string) string {
	n := 0
	for n < min(len(changed), len(good)) && changed[n] == good[n] {
		n++
	}
	from := strings.LastIndexByte(changed[:n], '\n') + 1
	if n-from > 80 {
		from = n - 80
	}
	end := min(len(changed), n+160)
	if i := strings.IndexByte(changed[n:end], '\n'); i > 0 {
		end = n + i
	}
	return validators.OneLine(strings.ToValidUTF8(changed[from:end], ""), 240)
}
