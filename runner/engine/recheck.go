package engine

import (
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/shared"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// A Past is a visit to a phase that a recorded run made, for holding its texts
// against the checks of a cascade again: its own, or a changed one. It is no
// part of a run: nothing is told, and no budget holds.
type Past struct{ t *try }

// A Said is a text that a recorded attempt gave.
type Said struct {
	At            event.Path // of what is held against the checks
	Attempt, Turn int
	Text          string // of a tool's value, its JSON
	Unfit         bool   // it broke its output_schema
}

// NewPast looks back at a visit to p of c by what the run knew: State's Input,
// State, Outputs, Output, Previous, Lineage and ValidationError, which may
// change between calls, and its RunID and Model.
// Locals are those of the item that the visit was to, nil for none.
func NewPast(h Host, c *cascades.Cascade, p *cascades.Phase, s *State, locals map[string]any) *Past {
	f := &flow{h: silent{h}, c: c, s: s, meter: shared.NewMeter(nil, cascades.Budget{}, model.Usage{}), locals: locals}
	v := &visit{flow: f, p: p, validated: s.ValidationError}
	return &Past{v.newTry("")}
}

// Usage is what holding texts against the checks has cost so far.
func (p *Past) Usage() model.Usage { return p.t.meter.Total() }

// Locals are what the i-th item of the phase brings; nil where that cannot be
// known.
func (p *Past) Locals(i int) map[string]any {
	if err := p.t.listed(); err != nil || i >= len(p.t.list) {
		return nil
	}
	return map[string]any{p.t.p.Each.As: p.t.list[i], cascades.Index: i}
}

// Opening is what pre-wards see: the phase's system text and its own instructions, or its
// tool's inputs, rendered with what the run knew.
func (p *Past) Opening() (validators.Subject, error) {
	t := p.t
	if t.p.Tool != nil {
		inputs, err := t.p.Inputs.Render(t.visit.vars(t.p.Inputs))
		return t.begun(words.Text(inputs), inputs), err
	}
	if t.p.Instructions == nil { // what was asked a model once may be composed now, or a group
		return t.begun("", nil), nil
	}
	err := t.instruct()
	return t.begun(words.Instructed(t.system, t.prompt), nil), err
}

// Subject is what turn wards and loop_until see of a text.
func (p *Past) Subject(s Said) validators.Subject {
	text := p.t.plain(s.Text)
	return p.t.subject(text, p.t.jsonIn(text), s.Turn, s.Attempt)
}

// Unfit tells whether a turn's text breaks the phase's output_schema.
func (p *Past) Unfit(s Said) bool { return p.t.breaksSchema(p.t.plain(s.Text)) }

// Written returns the refusal of a turn's text that contains a written tool call;
// false if there is none.
func (p *Past) Written(s Said) (wards.Outcome, bool) { return p.t.written(s.Text) }

// Asked is what tool wards see of a call that a model asked for; false where it
// could not be made, so that neither they nor result wards are asked.
func (p *Past) Asked(s Said, c model.ToolCall) (validators.Subject, bool) {
	a := p.t.read(s.At, c)
	if a.tool == nil || p.t.watched(a) && a.tool.Unfit(a.call.Arguments) != "" {
		return validators.Subject{}, false
	}
	subject := p.t.subject(words.Text(a.call.Arguments), a.call.Arguments, s.Turn, s.Attempt)
	subject.Tool = c.Name
	return subject, true
}

// Gave is what result wards see of a tool's answer.
func (p *Past) Gave(s Said, tool string) validators.Subject {
	output, _ := schema.ParseText(s.Text)
	subject := p.t.subject(s.Text, output, s.Turn, s.Attempt)
	subject.Tool = tool
	return subject
}

// Final is what the checks of an attempt's final text see, and what
// output_schema, which sees it first, says of it.
func (p *Past) Final(s Said) (validators.Subject, []wards.Outcome) {
	t := p.t
	c := &candidate{text: t.plain(s.Text)}
	c.value = c.valueOr(c.text)
	outcomes := t.schemaCheck(c)
	return t.subject(c.text, t.parsed(c), s.Turn, s.Attempt), outcomes
}

// Check gives what one check says of a subject. An error is the host's, or says
// that nothing else can be checked either.
func (p *Past) Check(s Said, c *cascades.Check, subject validators.Subject) (wards.Outcome, error) {
	return p.t.validate(s.At, place{phase: p.t.p.Name, attempt: s.Attempt, turn: s.Turn, unfit: s.Unfit}, c, subject)
}

// Ward is what a verdict means of a phase that is a validator.
func (p *Past) Ward() *wards.Ward { return p.t.gateWard() }

// Gate gives what a phase that is a validator says of what it looks at.
func (p *Past) Gate(s Said) (wards.Outcome, error) {
	t := p.t
	t.attempt = s.Attempt
	o := wards.Outcome{Ward: p.Ward()}
	inputs, err := t.p.Inputs.Render(t.visit.vars(t.p.Inputs))
	if err != nil {
		o.Err = err
		return o, nil
	}
	t.s.Verdicts = nil
	err = t.gate(s.At, inputs, &candidate{})
	if n := len(t.s.Verdicts); n > 0 {
		o.Verdict, o.Err = t.s.Verdicts[n-1].Found()
		return o, nil // err says what it would have led to
	}
	return o, err
}

// A silent host tells nobody anything.
type silent struct{ Host }

func (silent) Emit(event.Event) {}

func (s silent) Each(n, limit int, body func(Host, int) error) error {
	return s.Host.Each(n, limit, func(h Host, i int) error { return body(silent{h}, i) })
}

func (s silent) Within(at event.Path, d time.Duration, body func(Host) error) error {
	return s.Host.Within(at, d, func(h Host) error { return body(silent{h}) })
}
