package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// runEvents streams the events of a run as server-sent events or as JSON Lines. The
// stream ends with the run; it stays open while the run waits for an answer. If the rest
// of the events cannot be read, the connection is broken: a client must not take the part
// for the whole.
func (s *Server) runEvents(w http.ResponseWriter, r *http.Request) error {
	q, err := eventsQuery(r)
	if err != nil {
		return err
	}
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	over := live.Over(run.Status)
	if q.sse && q.after >= run.Events && q.after > 0 && over {
		w.WriteHeader(http.StatusNoContent) // an EventSource does not reconnect after it
		return nil
	}
	kind := "application/x-ndjson"
	if q.sse {
		kind = "text/event-stream"
	}
	e := &eventStream{Server: s, r: r, Stream: api.NewStream(w, kind), id: run.RunID, streamQuery: q}
	w.WriteHeader(http.StatusOK)
	switch {
	case r.Method == http.MethodHead:
	case !q.follow || over:
		if err = e.send(); err == nil {
			err = e.end(run.Status)
		}
	default:
		err = s.live.Follow(r, e.id, nil, e.sendNew, e.idle)
	}
	if err == nil || errors.Is(err, live.ErrEnd) || r.Context().Err() != nil {
		return nil
	}
	var reader net.Error // a slow client, or one that is gone
	if !errors.As(err, &reader) {
		s.o.Log.Error("events", "run", run.RunID, "error", err)
		e.Flush()
	}
	panic(http.ErrAbortHandler)
}

// A streamQuery is the events that a client asks for.
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

// An eventStream sends the events of one run to one client.
type eventStream struct {
	*Server
	*api.Stream
	streamQuery
	r        *http.Request
	id       string
	finished bool // the last event is the end of the run
}

// send sends the stored events after the last one sent.
func (e *eventStream) send() error {
	for next, err := range e.o.Store.Events(e.r.Context(), e.id, e.after, e.detail) {
		if err != nil {
			return err
		}
		if err := e.sendEvent(next); err != nil {
			return err
		}
	}
	return e.Flush()
}

func (e *eventStream) sendEvent(next event.Event) error {
	if e.detail == journal.Whole {
		next.Before = 0
	}
	text, err := next.MarshalJSON() // without line ends
	if err != nil {
		return err
	}
	e.after, e.finished = next.Seq, next.Kind == event.RunFinished
	if e.sse {
		return e.Send(next.Seq, "", string(text))
	}
	return e.Write(string(text) + "\n")
}

// minPause and maxPause limit the pause of a stream after it has read the store. The
// pause is four times the reading, so that a busy run is read less often.
const (
	minPause = time.Millisecond
	maxPause = time.Second
)

// sendNew sends new events, and the end of the run after its last event.
func (e *eventStream) sendNew() error {
	began, before := time.Now(), e.after
	if err := e.send(); err != nil {
		return err
	}
	if e.finished || e.after == before {
		if err := e.endIfOver(); err != nil {
			return err
		}
	}
	return model.Wait(e.r.Context(), min(max(minPause, 4*time.Since(began)), maxPause))
}

// idle sends a sign of life. It notices the end of a run whose process is gone.
func (e *eventStream) idle() error {
	if err := e.endIfOver(); err != nil {
		return err
	}
	if e.sse {
		return e.Beat()
	}
	return e.Flush()
}

// endIfOver ends the stream with [live.ErrEnd] if the run has ended.
func (e *eventStream) endIfOver() error {
	run, err := e.o.Store.Run(e.r.Context(), e.id)
	if err != nil || !live.Over(run.Status) {
		return err
	}
	for e.after < run.Events { // the run was resumed, and has ended again
		before := e.after
		if err := e.send(); err != nil {
			return err
		}
		if e.after == before {
			return fmt.Errorf("run %s: event %d cannot be read", e.id, before+1)
		}
	}
	if err := e.end(run.Status); err != nil {
		return err
	}
	return live.ErrEnd
}

// end sends the status of an ended run if the format has a place for it.
func (e *eventStream) end(status string) error {
	if e.sse && live.Over(status) {
		if err := e.Send(0, "end", `{"status":"`+status+`"}`); err != nil {
			return err
		}
	}
	return e.Flush()
}
