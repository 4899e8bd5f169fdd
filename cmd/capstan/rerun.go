package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A rerun holds back the lines of a phase until the phase calls a model, a tool or a
// person. A phase that calls nothing takes its results from another run, and is printed as
// a name in the list of shared phases.
type rerun struct {
	phase  string       // the visit whose lines are held back; "" for none
	lines  bytes.Buffer // of that visit
	shared []string     // phases that called nothing and are not printed yet
}

// hold begins to hold back the lines of a phase of a rerun.
func (p *progress) hold(e event.Event) {
	if p.rerun != nil && e.Kind == event.PhaseStarted && e.Path.Parent() == "" {
		p.rerun.phase = string(e.Path)
	}
}

// settle drops the lines of a phase that has succeeded without a call. For any
// other end, it prints the lines.
func (p *progress) settle(e event.Event) {
	switch {
	case p.rerun == nil || p.rerun.phase == "" || e.Kind != event.PhaseFinished || e.Path.Parent() != "":
	case e.Status == engine.Succeeded:
		p.rerun.shared = append(p.rerun.shared, oneLine(p.rerun.phase))
		p.rerun.phase = ""
		p.rerun.lines.Reset()
	default:
		p.release()
	}
}

// traced reports a call at a path. Validators do not count: the same
// check of the same text has the same verdict.
func (p *progress) traced(at event.Path) {
	if name, _, _ := event.SplitIndex(at.Last()); name == "model" || name == "tool" {
		p.called(at)
	}
}

// called prints the lines of the phase at a path. It may be called concurrently.
func (p *progress) called(at event.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rerun != nil && p.rerun.phase != "" && strings.HasPrefix(string(at)+"/", p.rerun.phase+"/") {
		p.release()
	}
}

// release prints the lines that were held back.
func (p *progress) release() {
	p.rerun.phase = ""
	p.printShared()
	p.erase()
	_, _ = p.rerun.lines.WriteTo(p.out)
}

// printShared prints the list of the shared phases.
func (p *progress) printShared() {
	if p.rerun != nil && len(p.rerun.shared) > 0 {
		p.line("%s %s", p.styled(faint, "shared:"), strings.Join(p.rerun.shared, ", "))
		p.rerun.shared = nil
	}
}

// sharing returns options for a run with a parent. Its progress lists the shared phases.
func (c *Command) sharing(s *kit, parent string) []runner.Option {
	if parent == "" {
		return nil
	}
	s.progress.rerun = &rerun{}
	ask := c.asker(s.progress)
	return []runner.Option{
		runner.WithTrace(func(ctx context.Context, run string, at event.Path) context.Context {
			s.progress.traced(at)
			return s.telemetry.Context(ctx, run, at)
		}),
		runner.WithAsk(func(ctx context.Context, q engine.Question) (engine.Answer, error) {
			s.progress.called(q.Path)
			return ask(ctx, q)
		}),
	}
}
