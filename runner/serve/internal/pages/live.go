package pages

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// runLive sends the changed parts of a run's page until the run ends.
func (s *Site) runLive(w http.ResponseWriter, r *http.Request) error {
	after, err := api.LastEvent(r)
	if err != nil {
		return err
	}
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	// A reconnecting page repeats the number of its first event: it receives whole parts.
	x := &watcher{s: s, r: r, stream: api.NewStream(w, "text/event-stream"), id: run.RunID, made: after, status: r.URL.Query().Get("status"), folder: trace.NewFolder()}
	w.WriteHeader(http.StatusOK)
	more, stop := x.listen()
	defer stop()
	s.o.Live.Follow(r, x.id, more, x.news, x.stream.Beat)
	return nil
}

// A watcher updates the page of a run for one reader.
type watcher struct {
	s      *Site
	r      *http.Request
	stream *api.Stream
	id     string
	made   int64 // the last event of the page
	seq    int64 // the last event in the folder
	folder *trace.Folder
	known  int                   // number of phases on the page
	status string                // on the page
	dirty  map[string]bool       // paths of changed phases
	now    func() []orders.Draft // nil if the server does not run the run
	shown  []orders.Draft        // on the page
}

// listen subscribes to the drafts of a run of this process.
func (x *watcher) listen() (more <-chan struct{}, stop func()) {
	if x.s.o.Orders.Enabled() != nil {
		return nil, func() {}
	}
	changed := make(chan struct{}, 1)
	x.now, stop = x.s.o.Orders.Drafts(x.id, func() { live.Notify(changed) })
	return changed, stop
}

func (x *watcher) news() error {
	run, err := x.s.o.Store.Run(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	if err := x.read(); err != nil {
		return err
	}
	drafts, changed, err := x.drafts()
	if err != nil {
		return err
	}
	var pieces string
	switch {
	case len(x.dirty) > 0 || run.Status != x.status:
		if pieces, err = x.pieces(run); err != nil {
			return err
		}
	case !changed:
		return nil
	}
	// A replaced phase has lost its drafts.
	pieces += drafts
	if err := x.stream.Send(x.seq, "update", pieces); err != nil {
		return err
	}
	x.status = run.Status
	if live.Over(run.Status) {
		x.stream.Send(0, "end", "1")
		x.stream.Flush()
		return live.ErrEnd
	}
	if err := x.stream.Flush(); err != nil {
		return err
	}
	return model.Wait(x.r.Context(), x.rest())
}

// drafts renders the drafts, and reports whether they have changed.
func (x *watcher) drafts() (pieces string, changed bool, err error) {
	if x.now == nil {
		return "", false, nil
	}
	now := x.now()
	changed = !slices.Equal(now, x.shown)
	x.shown = now
	if pieces, err = part("live-drafts", now); err != nil {
		return "", false, err
	}
	return pieces, changed, nil
}

// rest returns the pause after an update, which is longer for larger runs.
func (x *watcher) rest() time.Duration {
	return 300*time.Millisecond + time.Duration(len(x.folder.Run().Phases))*time.Millisecond
}

// read reads new events.
func (x *watcher) read() error {
	x.dirty = map[string]bool{}
	for e, err := range x.s.o.Store.Events(x.r.Context(), x.id, x.seq, journal.Brief) {
		if err != nil {
			return err
		}
		x.folder.Add(e)
		x.seq = e.Seq
		if e.Seq <= x.made {
			x.known = len(x.folder.Run().Phases)
			continue
		}
		at := e.Path
		if e.Verdict != nil {
			at = e.Verdict.Path
		}
		x.dirty[at.First()] = true
	}
	return nil
}

// maxBars is the maximum number of phases whose time bars every update sends. Longer runs send
// all bars at the end.
const maxBars = 100

// pieces renders the head of the run and the changed phases.
func (x *watcher) pieces(run *journal.Run) (string, error) {
	t := x.folder.Run()
	for _, p := range t.Phases {
		if p.Status == "" && live.Over(run.Status) {
			x.dirty[p.Path.First()] = true // the run ended before the phase
		}
	}
	settle(t, run.Status)
	text, err := part("live-head", runView{
		Head: x.s.head(run, t), Troubles: newTroubles(x.id, t), Output: newTextView(x.id, "output", prettyJSON(t.Output), textRef{What: "result"}),
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(text)
	rows := phaseRows(run, t)
	for i, p := range t.Phases {
		name := "live-phase"
		switch {
		case i >= x.known:
			name = "live-new-phase"
		case x.dirty[p.Path.First()]:
			rows[i].OOB = true
		case len(rows) <= maxBars || live.Over(run.Status):
			name = "live-bar"
		default:
			continue
		}
		if name != "live-bar" {
			rows[i].Body = newPhaseView(x.id, p, false, 0)
		}
		if text, err = part(name, rows[i]); err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	x.known = len(t.Phases)
	return b.String(), nil
}
