package orders

import (
	"cmp"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Draft is what has arrived of a reply. No check has seen it, and it is kept
// nowhere.
type Draft struct {
	Path event.Path // that of the call's events
	Text string     // its end, where it is long
	Cut  bool       // there was more before
}

// maxDraft bounds a draft, in bytes: whoever looks on reads its end.
const maxDraft = 16 << 10

// expected is how long somebody who ordered a run on the page is waited for.
const expected = 10 * time.Second

// drafts are those of all runs. A model is only made to stream where somebody
// looks on as its call begins: it costs both sides more than a reply at once.
type drafts struct {
	mu   sync.Mutex
	runs map[string]*drafting
}

// A drafting is what is said in one run, and who hears it.
type drafting struct {
	hears map[*func()]bool
	until time.Time // till then somebody is about to come
	said  map[event.Path]*Draft
}

// of gives a run's, made where it is not there. It is called with d.mu held.
func (d *drafts) of(id string) *drafting {
	if d.runs == nil {
		d.runs = map[string]*drafting{}
	}
	if d.runs[id] == nil {
		d.runs[id] = &drafting{hears: map[*func()]bool{}, said: map[event.Path]*Draft{}}
	}
	return d.runs[id]
}

// hear has a run's texts heard here; those of one that is watched from the first
// call on.
func (d *drafts) hear(id string, watched bool) runner.Option {
	if watched {
		d.expect(id)
	}
	texts := runner.WithDrafts(func(at event.Path) func(string) { return d.ear(id, at) })
	replies := runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.ModelReplied {
			d.change(id, func(r *drafting) { delete(r.said, e.Path) })
		}
	}))
	return func(r *runner.Runner) { texts(r); replies(r) }
}

// expect says that somebody is about to look at a run.
func (d *drafts) expect(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of(id).until = time.Now().Add(expected)
}

// over forgets a run that has ended.
func (d *drafts) over(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.runs[id]; r != nil {
		clear(r.said)
		r.until = time.Time{}
		d.tidy(id, r)
	}
}

func (d *drafts) tidy(id string, r *drafting) {
	if len(r.hears)+len(r.said) == 0 && r.until.IsZero() {
		delete(d.runs, id)
	}
}

// ear hears a call's reply; nil where nobody looks on.
func (d *drafts) ear(id string, at event.Path) func(string) {
	d.mu.Lock()
	r := d.runs[id]
	wanted := r != nil && (len(r.hears) > 0 || time.Now().Before(r.until))
	d.mu.Unlock()
	if !wanted {
		return nil
	}
	return func(text string) {
		d.change(id, func(r *drafting) { r.add(at, text) })
	}
}

func (r *drafting) add(at event.Path, text string) {
	said := r.said[at]
	if said == nil || text == "" { // it begins anew
		said = &Draft{Path: at}
		r.said[at] = said
	}
	said.Text += text
	if len(said.Text) > maxDraft {
		said.Text, said.Cut = said.Text[len(said.Text)-maxDraft/2:], true
		for i := 0; i < utf8.UTFMax-1 && !utf8.RuneStart(said.Text[0]); i++ {
			said.Text = said.Text[1:]
		}
	}
}

// change changes what is said in a run, and tells those who look on.
func (d *drafts) change(id string, change func(*drafting)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.runs[id]
	if r == nil {
		return
	}
	change(r)
	for told := range r.hears {
		(*told)()
	}
}

// follow is [Crew.Drafts].
func (d *drafts) follow(id string, told func()) (now func() []Draft, stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.of(id)
	r.hears[&told] = true
	now = func() []Draft {
		d.mu.Lock()
		defer d.mu.Unlock()
		list := make([]Draft, 0, len(r.said))
		for _, said := range r.said {
			list = append(list, *said)
		}
		slices.SortFunc(list, func(a, b Draft) int { return cmp.Compare(a.Path, b.Path) })
		return list
	}
	return now, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(r.hears, &told)
		if d.runs[id] == r {
			d.tidy(id, r)
		}
	}
}

// Drafts has told called, which does not wait, whenever a model says more in a run of
// this crew, until stop is called. Now gives what is being said, in the order of
// paths.
func (c *Crew) Drafts(id string, told func()) (now func() []Draft, stop func()) {
	return c.drafts.follow(id, told)
}
