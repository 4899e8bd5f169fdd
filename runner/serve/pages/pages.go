// Package pages is what people see of runs: pages, live while runs go on, forms that
// order something of them, pictures, and what all of these are made of.
//
// A request comes in by one of the [Site.Routes], has had to pass the server's guard,
// and goes out as a page or as its part, whole or not at all, or as an error, which the
// server tells by [Site.Error]. A page is a handler that reads the store or a run's tree
// (package trees), a view, whose fields are all that is told, and a template in page/
// that prints it (render.go); what they show of a run itself is made by package views.
// Pieces of pages that are open follow by server-sent events (live.go).
//
// The texts of a run are a stranger's: they are shown and never interpreted. A page
// loads nothing from elsewhere, runs no script but those in static/, and works without
// any. Nothing here starts a run by itself: orders are given at a desk (orders.go,
// start.go, again.go).
//
// Begin with Routes and run.go.
package pages

import (
	"context"
	"iter"
	"log/slog"
	"net/http"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/feeds"
	"github.com/seed61713e19/capstan/runner/serve/guards"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/serve/trees"
	"github.com/seed61713e19/capstan/runner/serve/trends"
)

// A Store is what pages are made from; what each method promises is said at
// [journal.Journal].
type Store interface {
	feeds.Store
	Runs(ctx context.Context, f journal.Filter) ([]journal.Summary, error)
	Result(ctx context.Context, id string) (engine.Result, error)
	Request(ctx context.Context, id string, at event.Path) (*model.Request, error)
	// Gates tells how every validator did, over the runs of one cascade or, with
	// "", over all.
	Gates(ctx context.Context, cascade string) ([]journal.Gate, error)
	// Attempts gives every attempt of the runs that the filter lets through.
	Attempts(ctx context.Context, f journal.Filter) iter.Seq2[journal.Attempt, error]
}

// Options say what a site shows, and by whom.
type Options struct {
	Store Store
	// Desk takes orders; Cascades and Models are the names that they may give.
	Desk             orders.Desk
	Cascades, Models []string
	// Scales weigh the gates of the offered cascades; nil where they cannot be.
	Scales Scales
	// Runner reads the cascades that runs were kept with.
	Runner *runner.Runner
	Guard  guards.Guard
	Feeds  *feeds.Source
	// Names tells whether a run may have that name.
	Names func(ctx context.Context, run string) bool
	// Closing is closed when what is live is to end.
	Closing <-chan struct{}
	Log     *slog.Logger
}

// A Site is the pages of one server. Make one with [New].
type Site struct {
	o      Options
	trees  *trees.Forest
	trends *trends.Counter
	lately lately
}

// New is a site, all of whose options are given but Scales.
func New(o Options) *Site {
	return &Site{o: o, trees: trees.New(o.Store), trends: trends.NewCounter(o.Store)}
}

// Routes are what answers each pattern of an [http.ServeMux], "GET /runs/{id}". An
// error that one returns has not been answered yet.
func (s *Site) Routes() map[string]func(http.ResponseWriter, *http.Request) error {
	return map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                 s.runsPage,
		"GET /live":                s.runsLive,
		"GET /start":               s.startPage,
		"POST /start":              s.startForm,
		"GET /runs/{id}":           s.runPage,
		"GET /runs/{id}/live":      s.runLive,
		"GET /runs/{id}/phase":     s.phasePage,
		"GET /runs/{id}/call":      s.callPage,
		"GET /runs/{id}/text":      s.textPage,
		"GET /runs/{id}/raw":       s.rawText,
		"GET /runs/{id}/diff":      s.diffPage,
		"GET /runs/{id}/graph":     s.graphPage,
		"GET /runs/{id}/graph.svg": s.graphSVG,
		"GET /runs/{id}/proof.svg": s.proofSVG,
		"POST /runs/{id}/answer":   s.answerForm,
		"POST /runs/{id}/cancel":   s.cancelForm,
		"POST /runs/{id}/resume":   s.resumeForm,
		"GET /runs/{id}/receipt":   s.receiptPage,
		"GET /runs/{id}/again":     s.againPage,
		"POST /runs/{id}/again":    s.againPosted,
		"GET /compare":             s.comparePage,
		"GET /gates":               s.gatesPage,
		"GET /batches":             s.batchesPage,
		"GET /trends":              s.trendsPage,
		"GET /rejections":          s.rejectionsPage,
		"GET /trust":               s.trustPage,
		"GET /cost":                s.costPage,
		"GET /label":               s.labelPage,
		"POST /label":              s.labelForm,
		"GET /login":               s.loginForm,
		"POST /login":              s.login,
		"POST /logout":             s.logout,
		"GET /static/{name}":       s.static,
		"GET /favicon.ico":         s.favicon,
	}
}
