package serve

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// asked is the run whose events a request wants, and which of them.
func (s *Server) asked(r *http.Request) (streamQuery, *journal.Run, error) {
	q, err := eventsQuery(r)
	if err != nil {
		return q, nil, err
	}
	id := r.PathValue("id")
	if q.follow && s.feeds.Followed(live.Key{RunID: id, Detail: q.detail}) { // others know already: nothing is read for one more
		return q, &journal.Run{Summary: journal.Summary{RunID: id, Status: journal.Running}}, nil
	}
	run, err := s.o.Store.Run(r.Context(), id)
	return q, run, err
}

// runEvents streams a run's events as server-sent events or as JSON Lines. It
// ends when the run has; while a run waits for an answer it stays open. Where the
// rest cannot be read it is cut, for one that ends like any other is taken for whole.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) error {
	q, run, err := s.asked(r)
	if err != nil {
		return err
	}
	if q.sse && q.after >= run.Events && q.after > 0 && live.Over(run.Status) {
		w.WriteHeader(http.StatusNoContent) // what tells an EventSource not to come back
		return nil
	}
	kind := "application/x-ndjson"
	if q.sse {
		kind = "text/event-stream"
	}
	t := &teller{s: s, r: r, stream: api.NewStream(w, kind), id: run.RunID, query: q}
	w.WriteHeader(http.StatusOK)
	switch {
	case r.Method == http.MethodHead:
	case !q.follow || live.Over(run.Status):
		if err = t.catchUp(); err == nil {
			err = t.end(run.Status)
		}
	default:
		err = t.follow(run.Events)
	}
	if err == nil || r.Context().Err() != nil {
		return nil
	}
	var reader net.Error // who is slow, or gone
	if !errors.As(err, &reader) {
		s.o.Log.Error("events", "run", run.RunID, "error", err)
		t.stream.Flush()
	}
	panic(http.ErrAbortHandler)
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
		return q, orders.BadQuery("follow must be true or false")
	}
	switch v.Get("detail") {
	case "", "news":
		q.detail = journal.News
	case "whole":
		q.detail = journal.Whole
	case "brief":
		q.detail = journal.Brief
	default:
		return q, orders.BadQuery("detail must be news, whole or brief")
	}
	var err error
	q.after, err = api.LastEvent(r)
	return q, err
}

// A teller tells one reader of one run's events.
type teller struct {
	s      *Server
	r      *http.Request
	stream *api.Stream
	id     string
	query  streamQuery
}

// catchUp tells what the store has after what was told.
func (t *teller) catchUp() error {
	for e, err := range t.s.o.Store.Events(t.r.Context(), t.id, t.query.after, t.query.detail) {
		if err != nil {
			return err
		}
		l, err := live.Encode(e, t.query.detail)
		if err != nil {
			return err
		}
		if err := t.tell(l); err != nil {
			return err
		}
	}
	return t.stream.Flush()
}

// follow tells what is told and what will be, of a run that has so many events.
func (t *teller) follow(events int64) error {
	f, leave := t.s.feeds.Join(live.Key{RunID: t.id, Detail: t.query.detail}, events)
	defer leave()
	beat := time.NewTicker(live.Heartbeat)
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
			if err := t.stream.Flush(); err != nil { // at first, that the stream is open
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

func (t *teller) tell(l live.Line) error {
	t.query.after = l.Seq
	if t.query.sse {
		return t.stream.Write(l.SSE)
	}
	return t.stream.Write(l.JSON())
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
	if !t.query.sse || !live.Over(status) {
		return t.stream.Flush()
	}
	if err := t.stream.Send(0, "end", `{"status":"`+status+`"}`); err != nil {
		return err
	}
	return t.rest()
}

// rest sends what is there, and a sign of life where the format has one.
func (t *teller) rest() error {
	if t.query.sse {
		return t.stream.Beat()
	}
	return t.stream.Flush()
}
