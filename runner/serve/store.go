package serve

import (
	"context"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/serve/pages"
	"github.com/seed61713e19/capstan/runner/serve/problems"
)

// A Store is where runs are read from, and where answers go. A
// [*journal.Journal] is one; what each method promises is said there. It is
// safe for concurrent use.
type Store interface {
	pages.Store
	// Answer gives a waiting run its answer.
	Answer(ctx context.Context, id string, a runner.Answer) error
}

// What those who embed the server write of its rooms.
type (
	Runs    = orders.Runs      // starts, resumes and ends runs
	Drafter = orders.Drafter   // Runs that tell what models are saying, too
	Scales  = pages.Scales     // weigh the gates of offered cascades
	Scale   = pages.Scale      // what a cascade is weighed with
	Problem = problems.Problem // an answer that is none, as an error of Runs or Scales
)
