package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/trace"
)

// runLive sends the pieces of a run's page that have changed since the event
// the page was made with. It ends when the run has.
func (s *Site) runLive(w http.ResponseWriter, r *http.Request) error {
	after, err := api.LastEvent(r)
	if err != nil {
		return err
	}
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	// The page is asked for again from what it was made with, also after a break:
	// its pieces are whole each time.
	x := &watcher{s: s, r: r, stream: api.NewStream(w, "text/event-stream"), id: run.RunID, made: after, status: r.URL.Query().Get("status"), folder: trace.NewFolder()}
	w.WriteHeader(http.StatusOK)
	more, stop := x.listen()
	defer stop()
	s.follow(r, x.id, more, x.news, x.stream.Beat)
	return nil
}

// A watcher keeps one reader's page of a run up to date.
type watcher struct {
	s      *Site
	r      *http.Request
	stream *api.Stream
	id     string
	made   int64 // the last event that the page has
	seq    int64 // the last event that the folder has
	folder *trace.Folder
	known  int                   // phases that the page has
	status string                // that the page has
	dirty  map[string]bool       // paths of phases that have changed
	now    func() []orders.Draft // what models are saying; nil where nobody hears it
	shown  []orders.Draft        // that the page has
}

// listen hears what models say while they say it, of a run of this process.
func (x *watcher) listen() (more <-chan struct{}, stop func()) {
	d, ok := x.s.o.Desk.Runs.(orders.Drafter)
	if !ok {
		return nil, func() {}
	}
	told := make(chan struct{}, 1)
	x.now, stop = d.Drafts(x.id, func() { live.Wake(told) })
	return told, stop
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
	// A phase that is sent anew has lost what was put into it.
	pieces += drafts
	if err := x.stream.Send(x.seq, "update", pieces); err != nil {
		return err
	}
	x.status = run.Status
	if live.Over(run.Status) {
		x.stream.Send(0, "end", "1")
		x.stream.Flush()
		return errEnded
	}
	if err := x.stream.Flush(); err != nil {
		return err
	}
	return model.Wait(x.r.Context(), x.rest())
}

// drafts renders what models are saying, and tells whether the page has it.
func (x *watcher) drafts() (pieces string, changed bool, err error) {
	if x.now == nil {
		return "", false, nil
	}
	now := x.now()
	changed = !slices.Equal(now, x.shown)
	x.shown = now
	for _, d := range now {
		piece, err := part("live-draft", d)
		if err != nil {
			return "", false, err
		}
		pieces += piece
	}
	return pieces, changed, nil
}

// rest is how long the reader is left alone: the larger the run, the longer.
func (x *watcher) rest() time.Duration {
	return 300*time.Millisecond + time.Duration(len(x.folder.Run().Phases))*time.Millisecond
}

// read takes in what is new.
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

// maxBars is how many phases a run has at most whose bars, which grow shorter as
// the run grows longer, are sent with every update; of longer runs they are sent
// at the end.
const maxBars = 100

// pieces renders the run's head and every phase that has changed.
func (x *watcher) pieces(run *journal.Run) (string, error) {
	t := x.folder.Run()
	for _, p := range t.Phases {
		if p.Status == "" && live.Over(run.Status) {
			x.dirty[p.Path.First()] = true // it was cut off
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

// errEnded says that a stream has nothing more to tell.
var errEnded = errors.New("ended")

// follow calls news at once and whenever there may be more of a run, or of any
// where id is "", until it gives an error, the reader goes or the server ends.
// More tells of what is not in the store; nil where nothing is. Between, idle is
// called. Who asks for the header alone is told nothing, and holds nothing.
func (s *Site) follow(r *http.Request, id string, more <-chan struct{}, news, idle func() error) error {
	if r.Method == http.MethodHead {
		return nil
	}
	beats, leave := s.o.Feeds.Beats(id)
	defer leave()
	t := time.NewTicker(live.Heartbeat)
	defer t.Stop()
	for {
		if err := news(); err != nil {
			return err
		}
		for waiting := true; waiting; {
			select {
			case <-beats:
				waiting = false
			case <-more:
				waiting = false
			case <-t.C:
				if err := idle(); err != nil {
					return err
				}
			case <-r.Context().Done():
				return r.Context().Err()
			case <-s.o.Closing:
				return errEnded
			}
		}
	}
}
