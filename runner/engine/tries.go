package engine

import (
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/words"
)

// tries does the whole cascade as often as its soundings say. What the try that is
// picked has left is the run's, and nothing of the others but what checks and
// people have said.
func (f *flow) tries() error {
	v := f.visit(f.c.Tries, f.at.Join(f.c.Tries.Name))
	v.prompt = words.Task(f.c.Description, f.s.Input)
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

// entire is a try at the whole cascade. What judges its output sees what it has
// left.
func (t *try) entire(at event.Path, c *candidate) error {
	begin := &State{Input: t.s.Input, State: t.s.State, Given: t.asks, seen: true, reserved: t.reserves}
	if t.prompt != words.Task(t.c.Description, t.s.Input) {
		begin.Asked = t.prompt
	}
	s, err := t.nested(at, t.p.Tool.Cascade, begin, "")
	if err != nil {
		return err
	}
	c.text, c.value, c.left = words.Text(s.Output), s.Output, s
	t.s.State, t.s.Outputs = s.State, s.Outputs
	return nil
}
