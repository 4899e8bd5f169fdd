// Package journal keeps runs, in one SQLite file or in a database of PostgreSQL
// that several machines share: every event, and what every effect came to, so that
// a run can be gone on with after a crash, replayed without a model, and looked
// at. It is a [runner.Journal].
//
// A run is a row, what it began with, and its log: what happened, in that order. A [runner.Recording] is one start of a run. It wraps the host
// that makes the effects. What an earlier start of the run made answers from the
// log, at the same path and of the same request; anything else is made, and is in
// the file before the next effect begins. Events that were told are not told
// again. All that a run has at hand at one time is one row of the file, a pack,
// in one transaction, and runs that write at the same time share one.
//
// A run belongs to the start whose epoch it has: whatever carries an older one
// is not written. No secret is written, whatever says it. Long texts are kept
// once each, by digest; very long ones in parts. What cannot be written stops
// the run that it is of, and no other.
//
// Begin with recording.go and host.go; store.go is for who looks at runs.
package journal

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/runner/journal/postgres"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Journal is one open store. It is safe for concurrent use, and several
// processes may have the same store open.
type Journal struct {
	store    store
	says     *dialect
	options  Options
	secrets  *secrets
	owner    owners.Owner
	writer   *writer       // nil where the store is only looked at
	readers  chan *conn    // that are open and have nothing to do
	reads    chan struct{} // has something in it for each that reads
	closed   atomic.Bool
	ahead    atomic.Int64 // nanoseconds that the store's clock is ahead of this process's
	watchers watchers
	owed     owed

	looking sync.Mutex
	watch   *conn // asked for the version: it tells of what others have written since
	seen    int64 // what it said last
	version int64
}

// Options say how a journal is kept.
type Options struct {
	Power    bool              // safe against power loss too: one fsync per effect, shared by those that come together
	ReadOnly bool              // the file is only looked at, and must be there
	TakeOver bool              // runs of processes of which nothing can be known here may be gone on with; one that lives is then refused what it writes
	Secrets  map[string]string // name → value that is stored as [redacted NAME], of 8 characters at least; a run that is gone on with has it again
	Now      func() time.Time  // time.Now where nil
	Lease    time.Duration     // on a server: how long after this process was heard of last others may go on with its runs; 10 s where 0, a second at least

	patience time.Duration // how long another process may hold the file; for tests
	careless bool          // nothing is synced; for tests
}

// maxReaders is how many connections read at the same time; further readers
// wait. SQLite closes no descriptor while another connection of the process
// holds a lock on the file, so what one moment needs stays open for good.
const maxReaders = 16

// Open opens the file, and makes it where it is not there, or connects to the
// server where it is given an address, which begins with postgres://, and makes
// the tables where they are not there. An older journal is brought up to date; a
// newer one, a file or tables that are something else, and a folder are refused.
func Open(where string, o Options) (*Journal, error) {
	if o.patience == 0 {
		o.patience = patience
	}
	j := &Journal{
		options: o, secrets: newSecrets(o.Secrets),
		owner: owners.New(), readers: make(chan *conn, maxReaders), reads: make(chan struct{}, maxReaders),
	}
	var err error
	j.store, err = j.storeAt(where)
	if o.Now == nil {
		j.options.Now = time.Now
	}
	if err == nil {
		j.says = j.store.dialect()
		if j.writer, err = j.store.open(); err != nil {
			err = errors.Join(j.fault(err), j.store.close())
		}
	}
	if err != nil {
		j.owner.Close()
		return nil, err
	}
	return j, nil
}

// IsAddress tells the address of a server from the name of a file.
func IsAddress(where string) bool { return postgres.IsAddress(where) }

// storeAt is the store of that name.
func (j *Journal) storeAt(where string) (store, error) {
	if postgres.IsAddress(where) {
		return newServer(j, where)
	}
	if where == "" || strings.ContainsRune(where, 0) {
		return nil, errors.New("a journal needs the name of a file")
	}
	// Connections are opened later too, from wherever the process is then.
	file, err := filepath.Abs(where)
	return &fileStore{j: j, file: file, statements: scripts.ReadFile}, err
}

// Close waits for what is being written, and a while for what is being read. A
// run that has not ended may then be gone on with by another journal of the same
// file. Nothing stays beside the file, unless another process has it open.
func (j *Journal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	j.owed.forget()
	err := j.closeReaders()
	if j.writer != nil { // the last to close: SQLite then takes its log away, which readers cannot
		err = errors.Join(err, j.writer.close())
	}
	err = errors.Join(err, j.store.close())
	j.owner.Close()
	return j.fault(err)
}

// alive reads an owner and tells whether it may still be at work.
func (j *Journal) alive(text string) (owners.Owner, bool) {
	return j.owner.Alive(text, j.store.alive)
}

// closeReaders closes what reads, and waits for those who do.
func (j *Journal) closeReaders() (err error) {
	late := time.After(j.options.patience)
	for waits := 0; waits < cap(j.reads); waits++ {
		select {
		case j.reads <- struct{}{}:
			defer func() { <-j.reads }() // who waits finds the journal closed
		case <-late:
			waits = cap(j.reads)
		}
	}
	for len(j.readers) > 0 {
		err = errors.Join(err, (<-j.readers).Close())
	}
	j.looking.Lock()
	defer j.looking.Unlock()
	if j.watch != nil {
		err = errors.Join(err, j.watch.Close())
		j.watch = nil
	}
	return err
}

// now is the time, by the store's clock where it has one.
func (j *Journal) now() time.Time { return j.options.Now().Add(time.Duration(j.ahead.Load())) }

// Running is the status of a run that a living process is running. One whose
// process is gone is [runner.Cancelled].
const Running = "running"

// A Summary is a run as lists show it.
type Summary struct {
	RunID     string       `json:"run_id"`
	CascadeID string       `json:"cascade_id"`
	File      string       `json:"file"`
	Status    string       `json:"status"`
	Started   time.Time    `json:"started"`
	Finished  *time.Time   `json:"finished"` // nil while it is running or waits
	Phases    int          `json:"phases"`   // visits that have finished
	Events    int64        `json:"events"`
	Usage     model.Usage  `json:"usage"`
	Error     *event.Error `json:"error"`
	Parent    string       `json:"parent,omitempty"`
	Owner     string       `json:"owner,omitempty"` // the process that runs it, in words
	Hit       *Hit         `json:"hit,omitempty"`   // where it has the words that were looked for
	Guest     bool         `json:"guest,omitempty"` // the owner is another engine, which takes the answers: see [Guest]
}

// A Filter picks runs; its zero value picks all.
type Filter struct {
	Status  string
	Cascade string
	Text    string          // in the name of the run or the cascade
	Words   string          // in what the run was given, was asked or said, whatever their case and the white space between them
	Among   map[string]bool // runs by name; nil is any
	Since   time.Time       // started then or later
	Until   time.Time       // started before
	Before  string          // the run after which the list goes on; "" begins with the newest
	Limit   int             // 0 is no limit
}

// A Run is a run with all that it began with.
type Run struct {
	Summary
	Start   runner.Start
	Pending []Pending // the open questions, in the order of their keys
}

// A Detail is how much of each event is wanted.
type Detail int

// Whole events have all that was told; the messages of a conversation are held
// once, as long as it is read. News are cut, as events are written: a request has
// the messages that are new since the last call of its conversation, so that a
// run of any length is read in the same memory. Brief leaves out the requests'
// messages, tools and schema. Marked are brief ones in whose texts [Redacted] tells
// the mark of a secret from words that look like one.
const (
	Whole Detail = iota
	News
	Brief
	Marked
)

// An Effect is what one effect of a run came to. One of the last five is set.
type Effect struct {
	Path     event.Path
	Response *model.Response
	Result   *tool.Result
	Finding  *engine.Finding
	Answer   *engine.Answer
	TimedOut bool
}

// Version changes whenever something was written, by this process or another.
// It is of this open journal alone, and means nothing to another.
func (j *Journal) Version(ctx context.Context) (version int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = j.watching(func(c *conn) error {
		seen, err := j.store.changes(c)
		if err != nil || seen != j.seen {
			j.seen = seen
			j.version++
		}
		version = j.version
		return err
	})
	return version, err
}

// watching runs body, which reads one row, with the connection that is kept for
// that, one after the other.
func (j *Journal) watching(body func(*conn) error) error {
	j.looking.Lock()
	defer j.looking.Unlock()
	if j.closed.Load() {
		return errClosed
	}
	if j.watch == nil {
		c, err := j.store.reader()
		if err != nil {
			return j.fault(err)
		}
		j.watch = c
	}
	err := body(j.watch)
	if j.store.broken(err) {
		j.watch.Close()
		j.watch = nil
	}
	return j.fault(err)
}

// A Gate is how one validator did over all runs.
type Gate struct {
	Validator string  `json:"validator"`
	Moment    string  `json:"moment"`
	Verdicts  int     `json:"verdicts"`
	Passed    int     `json:"passed"`
	Rejected  int     `json:"rejected"`
	Errors    int     `json:"errors"`
	Attempts  float64 `json:"attempts_to_pass"` // mean number of the attempt that passed; 0 where none did
	Calls     int     `json:"model_calls"`      // by judges
	CostUSD   float64 `json:"cost_usd"`
	Seconds   float64 `json:"seconds"` // by judges and other slow validators, together
}

// A Table is what a query gave.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // nil, bool, int64, float64, string
}

var _ runner.Journal = (*Journal)(nil)
