package orders

import (
	"context"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// observe returns the option with which a run reports its drafts and its counts.
func (p *Pool) observe(id string, watched bool) runner.Option {
	drafts, counts := p.drafts.observe(id, watched), runner.WithSink(p.o.Metrics)
	return func(r *runner.Runner) { drafts(r); counts(r) }
}

// logBegin logs that the journal has stored a run.
func (p *Pool) logBegin(j *job) {
	p.o.Metrics.Started(j.cascade)
	p.o.Log.Info("run begun", "run", j.id, "cascade", j.cascade, "resumed", j.resume)
}

// logEnd logs the end of a run. It logs the code and the phase of an error, but not the
// message, which may contain texts.
func (p *Pool) logEnd(j *job, r engine.Result, err error, took time.Duration) {
	status, u := r.Status, r.Usage
	line := []any{"run", j.id, "cascade", j.cascade, "took", took.Round(time.Millisecond), "calls", u.Calls,
		"input_tokens", u.InputTokens, "output_tokens", u.OutputTokens, "cost_usd", u.CostUSD}
	if r.Error != nil {
		line = append(line, "code", r.Error.Code, "phase", r.Error.Phase)
	}
	if status == "" { // the journal did not store the end
		p.o.Metrics.Ended(j.cascade, "lost")
		p.o.Log.Error("run ended without a result", append(line, "error", err)...)
		return
	}
	p.o.Metrics.Ended(j.cascade, status)
	p.o.Log.Info("run ended", append(line, "status", status)...)
}

// closing accepts no more runs, and logs the runs that the pool waits for.
func (p *Pool) closing(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	judging := p.judging
	p.mu.Unlock()
	line := []any{"runs", p.names(), "judgements", judging}
	if until, limited := ctx.Deadline(); limited {
		line = append(line, "limit", time.Until(until).Round(time.Millisecond))
	}
	p.o.Log.Info("shutdown: wait for runs", line...)
}

// names returns the sorted names of the running runs.
func (p *Pool) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := []string{}
	for j := range p.running {
		names = append(names, j.id)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// busy returns the number of taken places.
func (p *Pool) busy() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running) + p.judging
}

// Ready returns nil if another run can begin now, otherwise [ErrClosed] or [ErrFull].
func (p *Pool) Ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ready()
}

// ready is Ready with p.mu held.
func (p *Pool) ready() error {
	switch {
	case p.closed:
		return ErrClosed
	case len(p.running)+p.judging >= p.o.Limit:
		return ErrFull
	}
	return nil
}
