// Package pages serves the web pages: runs, live while they run; the forms that start, change
// and answer runs; graphs, trends and measurements.
//
// A page has three parts. A handler reads the store or the tree of a run (trees.go). A view
// contains everything that the page shows. A template in page/ prints the view (render.go). The
// views of a run are in rows.go, body.go, texts.go and troubles.go. Open pages receive changes
// as server-sent events (live.go).
//
// Texts of runs are untrusted. Pages show these texts, but never interpret them. A page does
// not load anything from other servers, and works without scripts.
//
// Numbers over time are counted by day (trend_counts.go) and drawn as SVG (drawing.go). A run
// counts for the day, in UTC, on which it started.
//
// Begin with Routes and run.go.
package pages

import (
	"context"
	"iter"
	"net/http"

	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/guards"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// A Store contains the runs. [journal.Journal] documents the methods.
type Store interface {
	live.Store
	Runs(ctx context.Context, f journal.Filter) ([]journal.Summary, error)
	Result(ctx context.Context, id string) (engine.Result, error)
	Requests(ctx context.Context, id string) (request func(at event.Path) (*model.Request, error), err error)
	// Gates returns the numbers of each validator for the runs of a cascade. If cascade is
	// "", it counts all runs.
	Gates(ctx context.Context, cascade string) ([]journal.Gate, error)
	// Attempts returns the attempts of the runs that match the filter.
	Attempts(ctx context.Context, f journal.Filter) iter.Seq2[journal.Attempt, error]
}

// Options configure a [Site].
type Options struct {
	Store Store
	// Orders executes requests, which may use these names of cascades and models.
	Orders           orders.Service
	Cascades, Models []string
	// Scales measure the gates of the offered cascades. They may be nil.
	Scales Scales
	// Runner loads the stored cascades of runs.
	Runner *runner.Runner
	Guard  guards.Guard
	Live   *live.Source
	// Names reports whether a name is valid for a run.
	Names func(ctx context.Context, run string) bool
}

// A Site serves the pages of one server. Make one with [New].
type Site struct {
	o      Options
	trees  *runTrees
	counts memo[dayCounts]
	recent memo[[]trust.Candidate]
}

// New returns a site. Only Scales may be nil.
func New(o Options) *Site {
	return &Site{o: o, trees: newRunTrees(o.Store)}
}

// Routes returns the handlers by their patterns for an [http.ServeMux]. The caller must answer
// the error of a handler.
func (s *Site) Routes() map[string]func(http.ResponseWriter, *http.Request) error {
	return map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /{$}":                 s.runsPage,
		"GET /live":                s.runsLive,
		"GET /start":               s.startPage,
		"POST /start":              s.startForm,
		"GET /questions":           s.questionsPage,
		"POST /questions":          s.questionsForm,
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
