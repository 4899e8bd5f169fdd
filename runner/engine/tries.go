package engine

import (
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
)

// tries runs the whole cascade as often as its soundings require. The winner's
// state becomes the run's state. The record of the other tries has only
// verdicts and answers.
func (f *flow) tries() error {
	v := f.visit(f.c.Tries, f.at.Join(f.c.Tries.Name))
	v.prompt = messages.Task(f.c.Description, f.s.Input)
	degraded := f.s.Degraded
	r, err := v.pass()
	if err != nil {
		return err
	}
	won := r.candidate.left
	f.s.Outputs, f.s.Previous, f.s.Lineage, f.s.Visits, f.s.Visited = won.Outputs, won.Previous, won.Lineage, won.Visits, won.Visited
	f.s.Phases, f.s.Degraded = won.Phases, append(degraded, won.Degraded...)
	f.s.Done, f.s.Usage = true, f.meter.Total()
	return f.checkpoint()
}

// entire runs one try at the whole cascade. Its checks see the state that it
// leaves.
func (t *try) entire(at event.Path, c *candidate) error {
	begin := &State{Input: t.s.Input, State: t.s.State, DefaultModel: t.asks, seen: true, reserved: t.reserves}
	if t.prompt != messages.Task(t.c.Description, t.s.Input) {
		begin.Task = t.prompt
	}
	s, err := t.nested(at, t.p.Tool.Cascade, begin, "")
	if err != nil {
		return err
	}
	c.text, c.value, c.left = messages.Text(s.Output), s.Output, s
	t.s.State, t.s.Outputs = s.State, s.Outputs
	return nil
}
