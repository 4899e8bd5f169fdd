// Package orders starts, resumes, answers and cancels runs in this process on behalf of
// a server, and says in terms of HTTP why a request is refused.
//
// An [Order] asks for a new run, a [Change] for one that is made of an earlier run. A
// [Crew] accepts both. It answers as soon as the journal has the run, which then
// continues in the background (crew.go). It reads a cascade when the cascade is ordered,
// and again only if a file of it changed (shelf.go). It passes on the text that a model
// is writing only while somebody reads it (drafts.go). A [Desk] recognises orders that
// are sent twice, for any implementation of [Runs] (desk.go).
//
// A [Problem] is the answer to a request that fails: it has a status, a code that stays
// the same, and a text. [ProblemOf] makes one from the errors of runs, orders and
// cascades. An error of the server itself goes to its log, and the client learns only
// that there is one.
package orders

import (
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// Statuses lists the statuses that a list of runs can be filtered by.
var Statuses = []string{
	journal.Running, runner.Waiting, runner.Succeeded, runner.Blocked, runner.Exhausted, runner.Failed, runner.OverBudget, runner.Cancelled,
}

// An Order is a wish for a run.
type Order struct {
	Cascade string         // the name under which the operator offers it
	Input   map[string]any // plain values
	Model   string         // one of those offered; "" is the cascade's own
	RunID   string         // "" gives it a new name
	Watched bool           // somebody is about to look at the run: its models stream from the first call on
}
