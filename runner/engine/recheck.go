package engine

import (
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A Recheck is a recorded visit to a phase whose texts are checked again, with
// the original cascade or a changed one. It emits no events and has no budget.
type Recheck struct{ t *try }

// A RecordedText is a text of a recorded attempt.
type RecordedText struct {
	At            event.Path // the path of the text
	Attempt, Turn int
	Text          string // a tool's value is encoded as JSON
	Unfit         bool   // it violated its output_schema
}

// NewRecheck returns a Recheck for a visit to p. The state must have RunID,
// Model, Input, State, Outputs, Output, Previous, Lineage and ValidationError.
// The caller may change these fields between calls. Locals belong to the item
// of the visit, or are nil.
func NewRecheck(h Host, c *cascades.Cascade, p *cascades.Phase, s *State, locals map[string]any) *Recheck {
	f := &flow{h: silent{h}, c: c, s: s, meter: parallel.NewMeter(nil, cascades.Budget{}, model.Usage{}), locals: locals}
	v := &visit{flow: f, p: p, validated: s.ValidationError}
	return &Recheck{v.newTry("")}
}

// Usage returns the cost of all checks so far.
func (p *Recheck) Usage() model.Usage { return p.t.meter.Total() }

// Locals returns the variables of the i-th item, or nil if they cannot be
// computed.
func (p *Recheck) Locals(i int) map[string]any {
	if err := p.t.listed(); err != nil || i >= len(p.t.list) {
		return nil
	}
	return map[string]any{p.t.p.Each.As: p.t.list[i], keywords.Index: i}
}

// Opening returns the subject of pre-wards: the rendered system text and
// instructions, or the tool's inputs.
func (p *Recheck) Opening() (validators.Subject, error) {
	t := p.t
	if t.p.Tool != nil {
		inputs, err := t.p.Inputs.Render(t.visit.vars(t.p.Inputs))
		return t.begun(messages.Text(inputs), inputs), err
	}
	if t.p.Instructions == nil { // the changed phase may be a group or may compose its text
		return t.begun("", nil), nil
	}
	err := t.instruct()
	return t.begun(messages.WithSystem(t.system, t.prompt), nil), err
}

// Subject returns the subject of turn wards and loop_until.
func (p *Recheck) Subject(s RecordedText) validators.Subject {
	text := p.t.plain(s.Text)
	return p.t.subject(text, p.t.jsonIn(text), s.Turn, s.Attempt)
}

// Unfit reports whether a turn's text violates the phase's output_schema.
func (p *Recheck) Unfit(s RecordedText) bool { return p.t.breaksSchema(p.t.plain(s.Text)) }

// Written returns the refusal of a turn's text that contains a written tool call;
// false if there is none.
func (p *Recheck) Written(s RecordedText) (wards.Outcome, bool) { return p.t.written(s.Text) }

// Asked returns the subject of tool wards for a model's call. It returns false
// if the call is invalid, because neither tool wards nor result wards then run.
func (p *Recheck) Asked(s RecordedText, c model.ToolCall) (validators.Subject, bool) {
	a := p.t.read(s.At, c)
	if a.tool == nil || p.t.watched(a) && a.tool.Unfit(a.call.Arguments) != "" {
		return validators.Subject{}, false
	}
	subject := p.t.subject(messages.Text(a.call.Arguments), a.call.Arguments, s.Turn, s.Attempt)
	subject.Tool = c.Name
	return subject, true
}

// Gave returns the subject of result wards for a tool's result.
func (p *Recheck) Gave(s RecordedText, tool string) validators.Subject {
	output, _ := schema.ParseText(s.Text)
	subject := p.t.subject(s.Text, output, s.Turn, s.Attempt)
	subject.Tool = tool
	return subject
}

// Final returns the subject of the checks of a final text, and the outcome of
// output_schema, which runs first.
func (p *Recheck) Final(s RecordedText) (validators.Subject, []wards.Outcome) {
	t := p.t
	c := &candidate{text: t.plain(s.Text)}
	c.value = c.valueOr(c.text)
	outcomes := t.schemaCheck(c)
	return t.subject(c.text, t.parsed(c), s.Turn, s.Attempt), outcomes
}

// Check runs one check on a subject. It returns an error of the host, or an
// error that makes further checks impossible.
func (p *Recheck) Check(s RecordedText, c *cascades.Check, subject validators.Subject) (wards.Outcome, error) {
	return p.t.validate(s.At, place{phase: p.t.p.Name, attempt: s.Attempt, turn: s.Turn, unfit: s.Unfit}, c, subject)
}

// Ward returns the ward of a phase that is a validator.
func (p *Recheck) Ward() *wards.Ward { return p.t.gateWard() }

// Gate runs a phase that is a validator.
func (p *Recheck) Gate(s RecordedText) (wards.Outcome, error) {
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
		o.Verdict, o.Err = t.s.Verdicts[n-1].Result()
		return o, nil // err is only the consequence of the verdict
	}
	return o, err
}

// A silent host drops all events.
type silent struct{ Host }

func (silent) Emit(event.Event) {}

func (s silent) Each(n, limit int, body func(Host, int) error) error {
	return s.Host.Each(n, limit, func(h Host, i int) error { return body(silent{h}, i) })
}

func (s silent) Within(at event.Path, d time.Duration, body func(Host) error) error {
	return s.Host.Within(at, d, func(h Host) error { return body(silent{h}) })
}
