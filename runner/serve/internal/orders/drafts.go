package orders

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Draft is the part of a reply that has arrived. No gate has checked it, and it is not
// stored.
type Draft struct {
	Path event.Path // of the call's events
	Text string     // the end of a long text
	Cut  bool       // Text is not the complete text
}

// maxDraft limits a draft, in bytes.
const maxDraft = 16 << 10

// arrival is the time in which the person who started a run opens its page.
const arrival = 10 * time.Second

// drafts are the drafts of all runs. A model streams only if there is a reader of the
// run when the call begins, because streaming costs both sides more than a complete
// reply.
type drafts struct {
	mu   sync.Mutex
	runs map[string]*runDrafts
}

// runDrafts are the drafts of one run.
type runDrafts struct {
	readers map[*func()]bool // called after each change
	until   time.Time        // a reader is expected before
	calls   map[event.Path]*Draft
}

// of returns the drafts of a run. The caller must hold d.mu.
func (d *drafts) of(id string) *runDrafts {
	if d.runs == nil {
		d.runs = map[string]*runDrafts{}
	}
	if d.runs[id] == nil {
		d.runs[id] = &runDrafts{readers: map[*func()]bool{}, calls: map[event.Path]*Draft{}}
	}
	return d.runs[id]
}

// observe returns the option with which a run reports its drafts.
func (d *drafts) observe(id string, watched bool) runner.Option {
	if watched {
		d.mu.Lock()
		d.of(id).until = time.Now().Add(arrival)
		d.mu.Unlock()
	}
	texts := runner.WithDrafts(func(at event.Path) func(string) { return d.receiver(id, at) })
	replies := runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.ModelReplied {
			d.change(id, func(r *runDrafts) { delete(r.calls, e.Path) })
		}
	}))
	return func(r *runner.Runner) { texts(r); replies(r) }
}

// end removes the drafts of a run that has ended.
func (d *drafts) end(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.runs[id]; r != nil {
		clear(r.calls)
		r.until = time.Time{}
		d.removeUnused(id, r)
	}
}

func (d *drafts) removeUnused(id string, r *runDrafts) {
	if len(r.readers)+len(r.calls) == 0 && r.until.IsZero() {
		delete(d.runs, id)
	}
}

// receiver returns the function that receives the reply of a call, nil if nobody reads it.
func (d *drafts) receiver(id string, at event.Path) func(string) {
	d.mu.Lock()
	r := d.runs[id]
	wanted := r != nil && (len(r.readers) > 0 || time.Now().Before(r.until))
	d.mu.Unlock()
	if !wanted {
		return nil
	}
	return func(text string) {
		d.change(id, func(r *runDrafts) { r.add(at, text) })
	}
}

// add appends a text to the draft of a call. An empty text begins the draft anew.
func (r *runDrafts) add(at event.Path, text string) {
	draft := r.calls[at]
	if draft == nil || text == "" {
		draft = &Draft{Path: at}
		r.calls[at] = draft
	}
	draft.Text += text
	if len(draft.Text) > maxDraft {
		draft.Text, draft.Cut = clips.Tail(draft.Text, maxDraft/2), true
	}
}

// change changes the drafts of a run and notifies its readers.
func (d *drafts) change(id string, change func(*runDrafts)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.runs[id]
	if r == nil {
		return
	}
	change(r)
	for changed := range r.readers {
		(*changed)()
	}
}

// Drafts calls changed, which must not block, after each change of the drafts of a run,
// until stop is called. list returns them in the order of their paths.
func (p *Pool) Drafts(id string, changed func()) (list func() []Draft, stop func()) {
	d := &p.drafts
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.of(id)
	r.readers[&changed] = true
	list = func() []Draft {
		d.mu.Lock()
		defer d.mu.Unlock()
		list := make([]Draft, 0, len(r.calls))
		for _, draft := range r.calls {
			list = append(list, *draft)
		}
		slices.SortFunc(list, func(a, b Draft) int { return cmp.Compare(a.Path, b.Path) })
		return list
	}
	return list, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(r.readers, &changed)
		if d.runs[id] == r {
			d.removeUnused(id, r)
		}
	}
}
