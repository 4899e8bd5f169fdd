// Package journal stores runs, in one SQLite file or in a PostgreSQL database
// that several machines share. It stores every event and the result of every
// effect. So a run can be resumed after a crash, replayed without a model, and
// inspected. A [Journal] is a [runner.Journal]:
//
//	j, err := journal.Open("runs.db", journal.Options{})
//	result, err := runner.New(runner.WithJournal(j)).Run(ctx, cascade, input)
//	run, err := j.Run(ctx, "last")
//
// A run is stored as a row, its start and its log. A [runner.Recording] is one
// start of a run. It wraps the host that makes the effects. If an earlier start
// recorded an effect with the same path and request, the log answers it. Any
// other effect is made, and its result is stored before the next effect begins.
// Recorded events are not emitted again. The rows that a run has collected are
// written as one pack, in one transaction. Runs that write at the same time
// share a transaction.
//
// A run belongs to the start with its current epoch; writes of an older epoch fail.
// Secrets are redacted in all data. Long texts are stored once, by digest. If a write
// fails, only its run stops.
//
// Begin with recording.go and host.go, which write runs. Read store.go for the
// differences between the stores.
package journal

import (
	"context"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Journal is an open store of runs. It is safe for concurrent use, and
// several processes may open the same store.
type Journal struct {
	db       *stores.DB
	secrets  *codec.Secrets
	watchers watchers
	retries  retries

	lastChange int64 // number of the last change seen; [stores.DB.Watch] serializes the uses of this field and the next
	version    int64
}

// Options of a journal.
type Options struct {
	Power    bool              // survive a power failure: one fsync per effect, shared by concurrent effects
	ReadOnly bool              // only read the file, which must exist
	TakeOver bool              // allow runs to be resumed whose process cannot be checked from here; if it still runs, its writes are rejected
	Secrets  map[string]string // values by name, of at least 8 characters, stored as [redacted NAME]; a resumed run gets them back
	Single   bool              // reads of a file share the connection that writes, which saves time in a process of one short run
	Now      func() time.Time  // default: time.Now
	Lease    time.Duration     // on a server: how long a silent process keeps its runs; default: 10 s, minimum: 1 s

	patience time.Duration // how long to wait for a lock of another process; for tests
	noSync   bool          // nothing is synced; for tests
}

// Open opens the file, or creates it if it is missing. An address that begins
// with postgres:// connects to a server, and creates missing tables there. Open
// rejects a folder, a journal of another version, and a file or tables of
// another program.
func Open(where string, o Options) (*Journal, error) {
	j := &Journal{secrets: codec.NewSecrets(o.Secrets)}
	var err error
	j.db, err = stores.Open(where, stores.Options{
		Power: o.Power, ReadOnly: o.ReadOnly, TakeOver: o.TakeOver, Single: o.Single, Now: o.Now, Lease: o.Lease, Patience: o.patience, NoSync: o.noSync,
		Changed: j.watchers.notify,
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// ErrEmpty is the error of [Open] with ReadOnly for a store without runs.
var ErrEmpty = stores.ErrEmpty

// Close waits for the current writes, and for a limited time for the current
// reads. Unfinished runs can then be resumed by another journal of the same
// store. Unless another process has the file open, no files stay beside it.
func (j *Journal) Close() error {
	return j.db.Close(j.retries.stop)
}

// Running is the status of a run whose process is alive. If the process is
// gone, the status is [engine.Cancelled].
const Running = "running"

// A Summary is a run as lists show it.
type Summary struct {
	RunID     string       `json:"run_id"`
	CascadeID string       `json:"cascade_id"`
	File      string       `json:"file"`
	Status    string       `json:"status"`
	Started   time.Time    `json:"started"`
	Finished  *time.Time   `json:"finished"` // nil while the run is running or waiting
	Phases    int          `json:"phases"`   // finished visits
	Events    int64        `json:"events"`
	Usage     model.Usage  `json:"usage"`
	Error     *event.Error `json:"error"`
	Parent    string       `json:"parent,omitempty"`
	Only      string       `json:"only,omitempty"`     // the only phase that this run did not take from Parent
	Owner     string       `json:"owner,omitempty"`    // description of the process that runs it
	Hit       *Hit         `json:"hit,omitempty"`      // the first match of the search words
	External  bool         `json:"external,omitempty"` // another engine owns the run and receives the answers, see [ExternalRuns]
}

// A Filter selects runs. The zero value selects all.
type Filter struct {
	Status  string
	Cascade string
	Text    string          // part of the name of the run or the cascade
	Words   string          // part of the inputs, requests or replies, without regard to case and white space
	Among   map[string]bool // names of runs; nil selects all
	Since   time.Time       // started then or later
	Until   time.Time       // started before
	Before  string          // the last run of the previous page; default: start with the newest
	Limit   int             // default: no limit
}

// A Run is a run with its start.
type Run struct {
	Summary
	Start   runner.Start
	Pending []Pending // the open questions, in the order of their keys
}

// A Detail selects the parts of each event that are returned.
type Detail int

// Whole events are complete. The messages of a conversation are stored once and
// shared by its events. News has only the new messages of each request, so that
// runs of any length need constant memory. Brief omits the messages, tools and
// schema of requests. Marked is Brief with seals, by which [Redacted]
// recognizes marks of secrets.
const (
	Whole Detail = iota
	News
	Brief
	Marked
)

// An Effect is the result of one effect of a run. Exactly one of the last five
// fields is set.
type Effect struct {
	Path     event.Path
	Response *model.Response
	Result   *tool.Result
	Finding  *engine.Finding
	Answer   *engine.Answer
	TimedOut bool
}

// Version returns a number that changes whenever a process writes to the store.
// Numbers of different Journals are unrelated.
func (j *Journal) Version(ctx context.Context) (version int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = j.db.Watch(func(c *stores.Conn) error {
		seen, err := j.db.Store.Changes(c)
		if err != nil || seen != j.lastChange {
			j.lastChange = seen
			j.version++
		}
		version = j.version
		return err
	})
	return version, err
}

// A Gate is the statistics of one validator.
type Gate struct {
	Validator string  `json:"validator"`
	Moment    string  `json:"moment"`
	Verdicts  int     `json:"verdicts"`
	Passed    int     `json:"passed"`
	Rejected  int     `json:"rejected"`
	Errors    int     `json:"errors"`
	Attempts  float64 `json:"attempts_to_pass"` // mean number of the passing attempt; 0 if none passed
	Calls     int     `json:"model_calls"`      // of judges
	CostUSD   float64 `json:"cost_usd"`
	Seconds   float64 `json:"seconds"` // total time of judges and other slow validators
}

// A Table is the result of a query.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // nil, bool, int64, float64 or string
}

var _ runner.Journal = (*Journal)(nil)
