// Package pages serves the web pages of a server: its runs, live while they go on, the
// forms that start, change and answer runs, and the graphs.
//
// A request reaches a page by one of the [Site.Routes], after the server has checked who
// sends it. The answer is a whole page, a part of one, or an error, which [Site.Error]
// writes. A page has three parts: a handler that reads the store or the tree of a run
// (trees.go), a view, whose fields are everything that is shown, and a template in page/
// that prints the view (render.go). The views of a run itself are in rows.go, body.go,
// texts.go and troubles.go. Open pages receive their changes as server-sent events
// (live.go).
//
// The texts of a run are untrusted: pages show them and never interpret them. A page
// loads nothing from other servers, runs no script except those in static/, and works
// without any. Nothing here starts a run: package orders does.
//
// Numbers over time are counted by day (counter.go) and drawn as SVG (drawing.go).
// A [TrendCounter] reads the attempts of each day once and stores the counts. It reads a
// day again only if a run of that day changed. All counts belong to the day, in UTC, on
// which their run started.
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
	"github.com/seed61713e19/capstan/runner/serve/internal/guards"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A Store is what pages are made from; what each method promises is said at
// [journal.Journal].
type Store interface {
	live.Store
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
	Feeds  *live.Source
	// Names tells whether a run may have that name.
	Names func(ctx context.Context, run string) bool
	// Closing is closed when what is live is to end.
	Closing <-chan struct{}
	Log     *slog.Logger
}

// A Site is the pages of one server. Make one with [New].
type Site struct {
	o      Options
	trees  *runTrees
	trends *TrendCounter
	lately lately
}

// New is a site, all of whose options are given but Scales.
func New(o Options) *Site {
	return &Site{o: o, trees: newRunTrees(o.Store), trends: NewTrendCounter(o.Store)}
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
