package mutate

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A gate is one check of a phase.
type gate struct {
	backtest.Gate
	allowed bool // it may run
}

func (g gate) String() string {
	return (&wards.Ward{Name: g.Ward.Name, Moment: g.Moment}).String()
}

// gatesOf returns the checks of a phase's final text in the order in which they run. A phase
// that is a validator has one gate, itself.
func gatesOf(p *cascades.Phase) (list []gate) {
	final := []wards.Moment{wards.Turn, wards.OutputSchema, wards.LoopUntil, wards.Filter, wards.Post}
	if p.Tool != nil && p.Tool.Validator != nil {
		final = []wards.Moment{backtest.Whole}
	}
	for _, g := range backtest.Gates(p) {
		if slices.Contains(final, g.Moment) {
			if g.Check != nil {
				g.Check = caching(g.Check)
			}
			list = append(list, gate{Gate: g})
		}
	}
	return list
}

// caching returns a check that prepares the parameters of its validator once for equal parameters.
// Some parameters are as long as the text.
func caching(c *cascades.Check) *cascades.Check {
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
	if g.Check == nil {
		return &cascades.Validator{Pure: true}
	}
	return g.Check.Validator
}

// notAsked returns the reason why the gate may not run, or "".
func (g gate) notAsked(t Test) string {
	v := g.validator()
	switch asks := backtest.AsksModel(v); {
	case asks && !t.Judges:
		return "it may ask a model: --judges asks it"
	case !asks && !v.Pure && !t.Exec:
		return "it runs a program or reaches out: --run-programs runs it"
	}
	return ""
}

// counts reports whether the gate can prevent the release of a text.
func (g gate) counts() bool { return wards.Outcome{Ward: g.Ward}.Refuses() }

func (g gate) mode() string { return string(g.Ward.Mode) }

// judgeTries is the number of requests to a judge whose answers are invalid.
const judgeTries = 3

// calls returns the maximum number of model calls for one text. For a cascade, it is at least one.
func (g gate) calls() int {
	v := g.validator()
	switch {
	case !g.allowed || !backtest.AsksModel(v):
		return 0
	case v.Cascade != nil:
		return max(v.Cascade.Plan("", nil).Total.ModelCalls, 1)
	}
	n := judgeTries * max(v.Votes, 1)
	if v.Confirm {
		n *= 2
	}
	return n
}

// An answer is the verdict of a gate on one text.
type answer struct {
	asked     bool
	rejected  bool
	reason    string
	noVerdict string // why there is no verdict
}

// ask runs every allowed gate on a text.
func (m *target) ask(h engine.Host, text string) ([]answer, error) {
	answers := make([]answer, len(m.gates))
	past := m.Recheck(h)
	recorded := m.Recorded
	recorded.Text = text
	var turn, final validators.Subject
	var unfit bool
	made := false
	for i, g := range m.gates {
		if !g.allowed || m.excluded[i] {
			continue
		}
		if !made && g.Moment != backtest.Whole {
			turn = past.Subject(recorded)
			var outcomes []wards.Outcome
			final, outcomes = past.Final(recorded)
			unfit, made = len(outcomes) > 0 && outcomes[0].Failed(), true
			for j := range m.gates {
				if len(outcomes) > 0 && m.gates[j].Ward == outcomes[0].Ward && !m.excluded[j] {
					answers[j] = answered(outcomes[0])
				}
			}
		}
		var o wards.Outcome
		var err error
		switch g.Moment {
		case backtest.Whole:
			o, err = m.WithContent(contentOf(text)).Recheck(h).Gate(recorded)
		case wards.OutputSchema:
			continue // part of the subject
		case wards.Turn, wards.LoopUntil:
			o, err = past.Check(recorded, g.Check, turn)
		default:
			o, err = past.Check(recorded, g.Check, final)
		}
		if err != nil {
			return nil, err
		}
		if o.Err != nil && unfit && g.Check.Validator.Pure {
			continue // output_schema has rejected the text, which the gate cannot read
		}
		answers[i] = answered(o)
	}
	return answers, nil
}

func answered(o wards.Outcome) answer {
	a := answer{asked: true, rejected: o.Failed(), reason: reports.Name(o.Verdict.Reason)}
	if o.Err != nil {
		a.noVerdict = reports.Name(o.Err.Error())
	}
	return a
}

// contentText returns the content of a phase that is a validator, as a text.
func (m *target) contentText() string {
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

// contentOf returns the content for such a phase.
func contentOf(text string) any {
	if t := strings.TrimSpace(text); t != "" && strings.IndexByte("{[", t[0]) >= 0 {
		if v, err := schema.Parse([]byte(t)); err == nil {
			return v
		}
	}
	return text
}

// excerpt returns the line of a changed text with the first difference.
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
	return reports.Fit(strings.ToValidUTF8(changed[from:end], ""), 240)
}
