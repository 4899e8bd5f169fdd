// Package serve shows runs and takes orders over HTTP: a page for people, live
// while runs go on, and the API under /v1, described by /v1/openapi.json.
//
// A request comes in past the guard (guard.go) by a route (routes.go) to a handler that
// answers it or gives an error, which one place tells: as a [Problem] to programs, as a
// page to people. What a program may ask is here, in files api_, and every body of
// theirs is held against the contract, openapi.yaml, before anything is done with it.
// Whether a page or a program asks, orders go over the same desk, and a text is a
// stranger's: it is shown, and never interpreted.
//
// Runs are made elsewhere: by what Options.Runs is, such as a crew of package orders.
// What has a name of its own is in a room of its own: what people see (pages, of views
// of trees, with formats, links, diffs, and plots of trends), what both pages and
// programs ask and are told (queries, orders, problems, streams), news of runs for all
// who follow them (feeds), and who may come in (guards).
//
// Begin with routes.go.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/redactions"
	"github.com/seed61713e19/capstan/runner/serve/internal/guards"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/internal/pages"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/validators"
)

// A Store is where runs are read from, and where answers go. A
// [*journal.Journal] is one; what each method promises is said there. It is
// safe for concurrent use.
type Store interface {
	pages.Store
	// Answer gives a waiting run its answer.
	Answer(ctx context.Context, id string, question event.Path, a runner.Answer) error
}

// What those who embed the server write of its rooms.
type (
	Runs    = orders.Runs    // starts, resumes and ends runs
	Drafter = orders.Drafter // Runs that tell what models are saying, too
	Scales  = pages.Scales   // weigh the gates of offered cascades
	Scale   = pages.Scale    // what a cascade is weighed with
	Problem = orders.Problem // an answer that is none, as an error of Runs or Scales
)

// Options say what a server shows and takes.
type Options struct {
	// Store is where runs are read from.
	Store Store
	// Runs starts, resumes and cancels runs; nil where the server only shows.
	Runs Runs
	// Cascades and Models are the names an order may give, as Runs has them.
	Cascades, Models []string
	// Gates are the validators that judge posted texts: see [Computed].
	Gates validators.Set
	// Runner asks the model for the verdicts of judges; nil means that it cannot
	// be asked.
	Runner *runner.Runner
	// Scales weigh the gates of the offered cascades; nil where they cannot be.
	Scales Scales
	// Requests takes validation requests; nil where the server takes none.
	Requests Requests
	// Addr is the TCP address that the server will listen on. An address that is not
	// loopback needs Token. It is "" for a Unix socket.
	Addr string
	// Token, where it is not "", is needed for everything but the page's login. It
	// has 16 characters or more.
	Token string
	// Hosts are further names under which the server is reached.
	Hosts []string
	// Every is how often the store is asked for news of other processes while
	// somebody watches, and for all where it is no [feeds.Watcher]; 0 means 200 ms.
	Every time.Duration
	// Secrets are values that no answer shows, by the name that stands in their place.
	Secrets map[string]string
	// Log gets what went wrong on the server's side; nil discards it.
	Log *slog.Logger
}

// A Server is the page and the API. Make one with [New].
type Server struct {
	o        Options
	desk     orders.Desk
	guard    guards.Guard
	feeds    *live.Source
	site     *pages.Site
	contract *contract
	closing  chan struct{} // closed when streams are to end
	ended    sync.Once     // closes it
	handler  http.Handler
}

// New makes a server. It refuses an address that is not loopback without a
// token, see [guards.New].
func New(o Options) (*Server, error) {
	guard, err := guards.New(o.Addr, o.Token, o.Hosts)
	switch {
	case err != nil:
		return nil, err
	case o.Store == nil:
		return nil, errors.New("a server needs a store")
	}
	o.Every = cmp.Or(max(o.Every, 0), 200*time.Millisecond)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Runner == nil {
		if o.Runner, err = runner.New(runner.WithValidators(o.Gates.List()...)); err != nil {
			return nil, err
		}
	}
	s := &Server{o: o, desk: orders.Desk{Runs: o.Runs, Store: o.Store}, guard: guard, feeds: live.New(o.Store, o.Every), closing: make(chan struct{})}
	if s.contract, err = newContract(); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	s.site = pages.New(pages.Options{
		Store: o.Store, Desk: s.desk, Cascades: o.Cascades, Models: o.Models, Scales: o.Scales, Runner: o.Runner,
		Guard: guard, Feeds: s.feeds, Names: s.contract.names, Closing: s.closing, Log: o.Log,
	})
	s.handler = redactions.Handler(s.guarded(s.mux()), o.Secrets)
	return s, nil
}

// ServeHTTP serves the page and the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// maxTaking is how long a request may take to arrive, and an answer to be taken.
// Streams have times of their own.
const maxTaking = 2 * time.Minute

// Serve serves what l accepts until ctx ends; then streams end, requests under
// way have five seconds, and nil is returned. Runs are the caller's to close. A
// server may serve several listeners at once, until the same ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       maxTaking,
		WriteTimeout:      maxJudging + maxTaking,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	s.EndStreams()
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if server.Shutdown(last) != nil {
		server.Close()
	}
	return nil
}

// EndStreams ends what is streamed, and what will be. [Server.Serve] does so when its
// ctx ends; an [http.Server] of one's own waits for streams in Shutdown, unless it is
// given this with RegisterOnShutdown.
func (s *Server) EndStreams() { s.ended.Do(func() { close(s.closing) }) }

// Computed is the part of a set that may judge whatever is posted: validators
// that compute their verdict from the text alone, and judges. The others read
// files, databases and keys that their parameters name. Parameters that are the
// operator's alone cannot be posted.
func Computed(set validators.Set) validators.Set {
	var list []validators.Validator
	for _, v := range set.List() {
		if v.Pure || v.Criteria != "" {
			list = append(list, v.Fixed(nil))
		}
	}
	return validators.NewSet(list...)
}
