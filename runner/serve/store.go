package serve

import (
	"context"
	"iter"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/serve/problems"
)

// A Store is where runs are read from, and where answers go. A
// [*journal.Journal] is one; what each method promises is said there. It is
// safe for concurrent use.
type Store interface {
	Reader
	// Gates tells how every validator did, over the runs of one cascade or, with
	// "", over all.
	Gates(ctx context.Context, cascade string) ([]journal.Gate, error)
	// Attempts gives every attempt of the runs that the filter lets through.
	Attempts(ctx context.Context, f journal.Filter) iter.Seq2[journal.Attempt, error]
	// Answer gives a waiting run its answer.
	Answer(ctx context.Context, id string, a runner.Answer) error
	// Version changes whenever something was written, by any process.
	Version(ctx context.Context) (int64, error)
}

// A Reader reads runs.
type Reader interface {
	Runs(ctx context.Context, f journal.Filter) ([]journal.Summary, error)
	Run(ctx context.Context, id string) (*journal.Run, error)
	Result(ctx context.Context, id string) (engine.Result, error)
	Events(ctx context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error]
	Request(ctx context.Context, id string, at event.Path) (*model.Request, error)
}

// Runs starts, resumes and ends runs; an [orders.Crew] does so in this process.
type Runs = orders.Runs

// A Problem is an answer that is none, as what an embedding program gives to [New] may
// return it.
type Problem = problems.Problem

// A Drafter tells what models are saying in runs of this process. A [*Crew] is one.
type Drafter interface {
	// Drafts has told called, which does not wait, whenever a model says more in a
	// run, until stop is called. Now gives what is being said, in the order of paths.
	Drafts(id string, told func()) (now func() []orders.Draft, stop func())
}
