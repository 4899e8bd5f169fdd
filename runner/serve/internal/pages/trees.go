package pages

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
)

// A runTrees makes the trees of runs, and stores the trees of ended runs that were used last.
// An ended run with the same number of events and the same end has not changed. It is safe for
// concurrent use.
type runTrees struct {
	store live.Store
	mu    sync.Mutex
	list  []tree // the last used tree is the last
}

func newRunTrees(s live.Store) *runTrees { return &runTrees{store: s} }

// Load returns a run and its tree.
func (f *runTrees) Load(ctx context.Context, id string) (*journal.Run, *trace.Run, error) {
	run, err := f.store.Run(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	t, _, err := f.Fold(ctx, run)
	return run, t, err
}

// Fold returns the tree of a run and the number of its last event. The tree has requests
// without messages. Nobody may change it.
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
		f.add(run, t, size)
	}
	return t, last, err
}

// settle sets the status of everything that an ended run left open.
func settle(t *trace.Run, status string) {
	if t == nil || !live.Over(status) {
		return
	}
	for p := range t.All() {
		if p.Item >= 0 {
			p.Status = cmp.Or(p.Status, engine.Cancelled) // it did not fail
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

// The limits of the stored trees: their number, and approximately their bytes.
const (
	maxTrees  = 16
	maxForest = 64 << 20
)

type tree struct {
	state
	run  *trace.Run
	size int
}

// A state identifies a version of a run.
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

// find returns the stored tree of a run, or nil.
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

// add stores the tree of an ended run, and removes others.
func (f *runTrees) add(run *journal.Run, t *trace.Run, size int) {
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

// weight returns approximately the size of an event in a tree, in bytes.
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
