// Package serve is the HTTP server of Capstan: web pages for people, and the API under /v1 for
// programs, which openapi.yaml describes.
//
// A request passes the guard (guard.go) and reaches the handler of its route (routes.go). A
// handler answers it or returns an error, which becomes a problem (RFC 9457) for programs or a page for
// people. The handlers of the API are in the files api_*.go. The API checks every body against
// openapi.yaml. Texts of runs are untrusted. The server shows these texts, but never
// interprets them.
//
// With [Options.NewRunner], clients can start runs, and the server executes them in this process.
// The folders under internal contain the pages, the execution of runs (orders), the notification
// of open streams (live), what pages and API share (api), the check of hosts and tokens (guards),
// and the metrics.
//
// Begin with routes.go.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/serve/internal/guards"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/internal/metrics"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
	"github.com/seed61713e19/capstan/runner/serve/internal/pages"
	"github.com/seed61713e19/capstan/validators"
)

// A Store contains runs, records new runs and stores answers. [journal.Journal] documents the
// methods. A Store must be safe for concurrent use.
type Store interface {
	pages.Store
	runner.Journal
	// Answer stores the answer to a question of a waiting run.
	Answer(ctx context.Context, id string, question event.Path, a engine.Answer) error
}

// Types for programs that embed the server.
type (
	Scales = pages.Scales // measure the gates of offered cascades
	Scale  = pages.Scale  // the labels and gates of one cascade
)

// Options configure a [Server].
type Options struct {
	// Store contains the runs.
	Store Store
	// NewRunner makes the runner for a new or resumed run, which must store it in j. For a new
	// run, s has the name, the Settings, and the requested model, which must be the runner's
	// default. If NewRunner is nil, the server only shows runs.
	NewRunner func(s runner.Start, j runner.Journal) (*runner.Runner, error)
	// Cascades are the files that a request may run, by name.
	Cascades map[string]string
	// Models are the models that a request may name.
	Models []string
	// Settings are stored with each new run, together with "cascade", the name of the cascade.
	Settings map[string]string
	// Limit is the maximum number of concurrent runs and judgements. Default: 16.
	Limit int
	// Done, if not nil, is called after each run. The error may be one of the store or a panic.
	Done func(id string, r engine.Result, err error)
	// Gates judge posted texts. See [Computed].
	Gates validators.Set
	// Runner asks the model for the verdicts of judges. If it is nil, judges give no verdict.
	Runner *runner.Runner
	// Scales measure the gates of the offered cascades. They may be nil.
	Scales Scales
	// Requests accepts validation requests. It may be nil.
	Requests Requests
	// Addr is the TCP address of the server, or "" for a Unix socket. An address that is not
	// loopback needs a Token.
	Addr string
	// Token, if not "", is required for everything except the login page. It must have at least
	// 16 characters.
	Token string
	// Hosts are further names of the server.
	Hosts []string
	// Every is the polling interval of the store. The server polls for changes by other
	// processes while a client waits for changes. Default: 200 ms.
	Every time.Duration
	// Secrets are values that no answer contains, by the names that replace them.
	Secrets map[string]string
	// Log receives a line for each request, for each run that begins or ends, and for the
	// shutdown, without texts of runs. Nil discards them.
	Log *slog.Logger
}

// A Server serves the pages and the API. Make one with [New].
type Server struct {
	o        Options
	orders   orders.Service
	metrics  *metrics.Metrics
	guard    guards.Guard
	live     *live.Source
	site     *pages.Site
	contract *contract
	closing  chan struct{} // closed when streams must end
	ended    sync.Once     // closes closing
	handler  http.Handler
}

// New returns a server. It returns an error for an address that needs a token, see
// [guards.New].
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
	closing := make(chan struct{})
	s := &Server{o: o, orders: orders.Service{Store: o.Store}, metrics: metrics.New(), guard: guard, live: live.New(o.Store, o.Every, closing), closing: closing}
	if o.NewRunner != nil {
		s.orders.Pool = orders.NewPool(orders.PoolOptions{Store: o.Store, Runner: o.NewRunner, Cascades: o.Cascades, Models: o.Models,
			Settings: o.Settings, Limit: o.Limit, Log: o.Log, Metrics: s.metrics, Done: o.Done})
	}
	if s.contract, err = newContract(); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	s.site = pages.New(pages.Options{
		Store: o.Store, Orders: s.orders, Cascades: s.cascades(), Models: o.Models, Scales: o.Scales, Runner: o.Runner,
		Guard: guard, Live: s.live, Names: s.contract.names,
	})
	s.handler = s.logged(redactions.Handler(s.guarded(s.mux(s.everything())), o.Secrets))
	return s, nil
}

// ServeHTTP serves the page and the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// maxTaking limits the time in which a request arrives, and in which the client receives the
// answer. Streams have their own limits.
const maxTaking = 2 * time.Minute

// Serve serves the connections of l until ctx ends. Then streams end, and other requests have
// five seconds. Serve does not end runs. A server may serve several listeners with the same
// ctx.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s, maxJudging+maxTaking, s.EndStreams)
}

// serve serves a handler until ctx ends; then it calls ended.
func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler, writing time.Duration, ended func()) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       maxTaking,
		WriteTimeout:      writing,
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
	ended()
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if server.Shutdown(last) != nil {
		server.Close()
	}
	return nil
}

// NewProblem returns an error whose text the client may read. The code is for programs.
// [Options.NewRunner] and [Scales] may return it.
func NewProblem(status int, code, detail string) error {
	return orders.NewProblem(status, code, detail)
}

// cascades returns the sorted names of the offered cascades.
func (s *Server) cascades() []string { return slices.Sorted(maps.Keys(s.o.Cascades)) }

// Errors of [Server.Resume].
var (
	ErrFull   = orders.ErrFull   // the maximum number of runs is already running
	ErrClosed = orders.ErrClosed // the server is shutting down
)

// Resume continues a stored run in the background, as a request of a client does.
func (s *Server) Resume(ctx context.Context, id string) error {
	if err := s.orders.Enabled(); err != nil {
		return err
	}
	return s.orders.Resume(ctx, id)
}

// Close accepts no more runs and waits for the running ones. If ctx ends first, Close cancels
// these runs and waits for their ends. They can be resumed. Requests still get answers.
func (s *Server) Close(ctx context.Context) {
	if s.orders.Pool != nil {
		s.orders.Close(ctx)
	}
}

// EndStreams ends all streams, also those that begin later. [Server.Serve] calls it. Pass it to
// RegisterOnShutdown of another [http.Server]; otherwise Shutdown waits for open streams.
func (s *Server) EndStreams() { s.ended.Do(func() { close(s.closing) }) }

// Computed returns the validators of a set that may judge posted texts: those that compute a
// verdict from the text alone, and judges. The others read files, databases and keys that their
// parameters name. Clients cannot set the parameters of the operator.
func Computed(set validators.Set) validators.Set {
	var list []validators.Validator
	for _, v := range set.List() {
		if v.Pure || v.Criteria != "" {
			list = append(list, v.Fixed(nil))
		}
	}
	return validators.NewSet(list...)
}
