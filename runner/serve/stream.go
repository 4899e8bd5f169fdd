package serve

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/feeds"
)

// A stream is an answer that goes on. Each piece has to be taken within half a
// minute.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newStream(w http.ResponseWriter, kind string) *stream {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // proxies are not to hold it back
	st := &stream{w, http.NewResponseController(w)}
	st.control.SetReadDeadline(time.Time{})
	return st
}

func (st *stream) write(piece string) error {
	st.control.SetWriteDeadline(time.Now().Add(30 * time.Second))
	_, err := io.WriteString(st.w, piece)
	return err
}

func (st *stream) flush() error { return st.control.Flush() }

// beat sends a sign of life, and what is there.
func (st *stream) beat() error {
	if err := st.write(": \n\n"); err != nil {
		return err
	}
	return st.flush()
}

// sse sends one server-sent event. Its data may have lines.
func (st *stream) sse(id int64, name, data string) error {
	var b strings.Builder
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r", "\n"), "\n") {
		b.WriteString("data: " + line + "\n")
	}
	b.WriteString("\n")
	return st.write(b.String())
}

// errEnded says that a stream has nothing more to tell.
var errEnded = errors.New("ended")

// follow calls news at once and whenever there may be more of a run, or of any
// where id is "", until it gives an error, the reader goes or the server ends.
// More tells of what is not in the store; nil where nothing is. Between, idle is called. Who asks for the header alone is told nothing, and
// holds nothing.
func (s *Server) follow(r *http.Request, id string, more <-chan struct{}, news, idle func() error) error {
	if r.Method == http.MethodHead {
		return nil
	}
	beats, leave := s.feeds.Beats(id)
	defer leave()
	t := time.NewTicker(feeds.Heartbeat)
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
			case <-s.closing:
				return errEnded
			}
		}
	}
}

// asked is the run whose events a request wants, and which of them.
func (s *Server) asked(r *http.Request) (streamQuery, *journal.Run, error) {
	q, err := eventsQuery(r)
	if err != nil {
		return q, nil, err
	}
	id := r.PathValue("id")
	if q.follow && s.feeds.Followed(feeds.Key{RunID: id, Detail: q.detail}) { // others know already: nothing is read for one more
		return q, &journal.Run{Summary: journal.Summary{RunID: id, Status: journal.Running}}, nil
	}
	run, err := s.o.Store.Run(r.Context(), id)
	return q, run, err
}

// runEvents streams a run's events as server-sent events or as JSON Lines. It
// ends when the run has; while a run waits for an answer it stays open.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) error {
	q, run, err := s.asked(r)
	if err != nil {
		return err
	}
	if q.sse && q.after >= run.Events && q.after > 0 && feeds.Over(run.Status) {
		w.WriteHeader(http.StatusNoContent) // what tells an EventSource not to come back
		return nil
	}
	kind := "application/x-ndjson"
	if q.sse {
		kind = "text/event-stream"
	}
	t := &teller{s: s, r: r, stream: newStream(w, kind), id: run.RunID, query: q}
	w.WriteHeader(http.StatusOK)
	switch {
	case r.Method == http.MethodHead:
	case !q.follow || feeds.Over(run.Status):
		if t.catchUp() == nil {
			t.end(run.Status)
		}
	default:
		t.follow(run.Events)
	}
	return nil
}

type streamQuery struct {
	after       int64
	sse, follow bool
	detail      journal.Detail
}

func eventsQuery(r *http.Request) (streamQuery, error) {
	v := r.URL.Query()
	q := streamQuery{sse: true, follow: true}
	if strings.Contains(r.Header.Get("Accept"), "application/x-ndjson") {
		q.sse = false
	}
	switch v.Get("follow") {
	case "", "true":
	case "false":
		q.follow = false
	default:
		return q, badQuery("follow must be true or false")
	}
	switch v.Get("detail") {
	case "", "news":
		q.detail = journal.News
	case "whole":
		q.detail = journal.Whole
	case "brief":
		q.detail = journal.Brief
	default:
		return q, badQuery("detail must be news, whole or brief")
	}
	for _, text := range []string{v.Get("after"), r.Header.Get("Last-Event-ID")} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return q, badQuery("after and Last-Event-ID must be the number of an event")
		}
		q.after = n
	}
	return q, nil
}

// A teller tells one reader of one run's events.
type teller struct {
	s      *Server
	r      *http.Request
	stream *stream
	id     string
	query  streamQuery
}

// catchUp tells what the store has after what was told.
func (t *teller) catchUp() error {
	for e, err := range t.s.o.Store.Events(t.r.Context(), t.id, t.query.after, t.query.detail) {
		if err != nil {
			return err
		}
		l, err := feeds.Encode(e, t.query.detail)
		if err != nil {
			return err
		}
		if err := t.tell(l); err != nil {
			return err
		}
	}
	return t.stream.flush()
}

// follow tells what is told and what will be, of a run that has so many events.
func (t *teller) follow(events int64) error {
	f, leave := t.s.feeds.Join(feeds.Key{RunID: t.id, Detail: t.query.detail}, events)
	defer leave()
	beat := time.NewTicker(feeds.Heartbeat)
	defer beat.Stop()
	for {
		now := f.Since(t.query.after)
		switch {
		case t.s.ending():
			return nil
		case now.Gap:
			before := t.query.after
			if err := t.catchUp(); err != nil || t.query.after == before {
				return err
			}
		case len(now.Lines) > 0:
			for _, l := range now.Lines {
				if err := t.tell(l); err != nil {
					return err
				}
			}
		case now.Over != "":
			return t.end(now.Over)
		case now.Err != nil:
			return now.Err
		default:
			if err := t.stream.flush(); err != nil { // at first, that the stream is open
				return err
			}
			select {
			case <-now.More:
			case <-beat.C:
				if err := t.rest(); err != nil {
					return err
				}
			case <-t.r.Context().Done():
				return t.r.Context().Err()
			case <-t.s.closing:
				return nil
			}
		}
	}
}

func (t *teller) tell(l feeds.Line) error {
	t.query.after = l.Seq
	if t.query.sse {
		return t.stream.write(l.SSE)
	}
	return t.stream.write(l.JSON())
}

// ending tells whether streams are to end.
func (s *Server) ending() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// end says that there is no more, where the format can.
func (t *teller) end(status string) error {
	if !t.query.sse || !feeds.Over(status) {
		return t.stream.flush()
	}
	if err := t.stream.sse(0, "end", `{"status":"`+status+`"}`); err != nil {
		return err
	}
	return t.rest()
}

// rest sends what is there, and a sign of life where the format has one.
func (t *teller) rest() error {
	if t.query.sse {
		return t.stream.beat()
	}
	return t.stream.flush()
}
