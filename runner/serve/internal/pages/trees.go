package pages

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A runTrees has the trees of a store's runs, and keeps those of runs that are over, the
// ones asked for last. A run only gains events, so one that has as many as before, and
// ended when it did, is what it was. Make one with [newRunTrees]. It is safe for concurrent use.
type runTrees struct {
	store live.Store
	mu    sync.Mutex
	list  []tree // the last one asked for at the end
}

// newRunTrees is a forest over a store.
func newRunTrees(s live.Store) *runTrees { return &runTrees{store: s} }

// Load gives a run and its tree.
func (f *runTrees) Load(ctx context.Context, id string) (*journal.Run, *trace.Run, error) {
	run, err := f.store.Run(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	t, _, err := f.Fold(ctx, run)
	return run, t, err
}

// Fold makes the tree of a run, or finds the one it has made, and gives the
// number of the last event in it. Requests are in it without their messages. It
// is shared: nobody may change it.
func (f *runTrees) Fold(ctx context.Context, run *journal.Run) (t *trace.Run, last int64, err error) {
	if t := f.find(run); t != nil {
		return t, run.Events, nil
	}
	size := 0
	t, err = trace.Fold(func(yield func(event.Event, error) bool) {
		for e, err := range f.store.Events(ctx, run.RunID, 0, journal.Brief) {
			last = max(last, e.Seq)
			size += weight(e)
			if !yield(e, err) {
				return
			}
		}
	})
	settle(t, run.Status)
	if err == nil && last == run.Events {
		f.keep(run, t, size)
	}
	return t, last, err
}

// settle says of what a run that is over has left open that it was cut off.
func settle(t *trace.Run, status string) {
	if t == nil || !live.Over(status) {
		return
	}
	for p := range t.All() {
		if p.Item >= 0 {
			p.Status = cmp.Or(p.Status, runner.Cancelled) // it did not fail
		}
		p.Status = cmp.Or(p.Status, status)
		for _, a := range p.Texts() {
			a.Status = cmp.Or(a.Status, status)
		}
		p.Visit(trace.Visitor{Call: func(c *trace.Call) {
			if c.Response == nil {
				c.Response = &model.Response{Failure: &model.Failure{Class: "interrupted", Message: "the run ended before there was an answer"}}
			}
		}})
	}
}

// maxTrees and maxForest bound the trees that are kept, by number and by about
// their bytes.
const (
	maxTrees  = 16
	maxForest = 64 << 20
)

type tree struct {
	state
	run  *trace.Run
	size int
}

// A state is how far a run has come.
type state struct {
	id, status string
	events     int64
	finished   time.Time
}

func stateOf(run *journal.Run) state {
	x := state{id: run.RunID, status: run.Status, events: run.Events}
	if run.Finished != nil {
		x.finished = run.Finished.UTC()
	}
	return x
}

// find gives the tree of a run, nil where it has none.
func (f *runTrees) find(run *journal.Run) *trace.Run {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(t tree) bool { return t.state == stateOf(run) })
	if i < 0 {
		return nil
	}
	found := f.list[i]
	f.list = append(slices.Delete(f.list, i, i+1), found)
	return found.run
}

// keep keeps the tree of a run that is over, and lets go of others for it.
func (f *runTrees) keep(run *journal.Run, t *trace.Run, size int) {
	if !live.Over(run.Status) || size > maxForest {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(t tree) bool { return t.id == run.RunID })
	f.list = append(f.list, tree{stateOf(run), t, size})
	whole := 0
	for i, t := range slices.Backward(f.list) {
		if whole += t.size; whole > maxForest || len(f.list)-i > maxTrees {
			f.list = slices.Delete(f.list, 0, i+1)
			return
		}
	}
}

// weight is about how many bytes an event has in a tree.
func weight(e event.Event) int {
	n := 1<<10 + len(e.Text) + len(e.Message) + event.Weight(e.Output) + event.Weight(map[string]any(e.Input))
	if e.Response != nil {
		n += len(e.Response.Text) + len(e.Response.Thinking)
	}
	if e.Call != nil {
		n += event.Weight(e.Call.Arguments)
	}
	if e.Result != nil {
		n += event.Weight(e.Result.Value)
	}
	if v := e.Verdict; v != nil {
		n += len(v.Reason) + len(v.Fix) + event.Weight(v.Evidence) + event.Weight(v.Details)
	}
	return n
}
