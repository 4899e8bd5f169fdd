// Package stores opens the databases of journals: a file of SQLite, or a PostgreSQL
// database that several machines share. It creates the tables and knows their version, but
// not the meaning of their rows.
//
// [Open] returns a [DB]. Its writer queues what runs write at the same time and commits it
// in one transaction. Its readers are a pool of connections, and [DB.Read] gives each
// reader one consistent snapshot. A [Store] has everything that differs between the two
// databases: connections, statements, classes of errors, leases of processes and
// notifications. Both stores pass the suite in suite_test.go.
//
// Begin with db.go and store.go, then read writer.go for the order of writes.
package stores

import (
	"context"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
)

// A Store holds a journal's tables: a SQLite file or a PostgreSQL database.
// Everything that differs between the two is here. Packs, texts, recording,
// replay, folding, pruning, sharing and fencing are common code.
type Store interface {
	// String returns the name without a password.
	String() string
	// Open checks the store, creates missing tables, and returns the writer.
	// The writer is nil if the journal is read-only.
	Open() (*writer, error)
	// Reader returns a new connection for reading.
	Reader() (*Conn, error)
	// Dialect returns the parts of statements that differ.
	Dialect() *Dialect
	// Close is called after all connections are closed.
	Close() error

	// The next four methods classify errors.

	Fault(error) error // returns an error with a message for people
	Broken(error) bool // the connection is no longer usable
	Wrong(error) bool  // the error is in the statement, not in the store
	Away(error) bool   // the store is unavailable, even after waiting

	// The next methods are for writing transactions of several processes.

	// Begin starts a transaction. If another process may have written, the
	// writer begins a new era.
	Begin(*writer) error
	// Again prepares the writer for another try after tries failures. It
	// returns false if another try is pointless.
	Again(w *writer, err error, tries int) bool
	// Hold prevents others from taking the run until the end of the
	// transaction, and makes the transaction fail if the run has another epoch.
	Hold(c *Conn, n, epoch int64) error
	// Bury records that the owner of a run is gone. It returns false if the
	// owner is alive.
	Bury(c *Conn, owner string) (bool, error)
	// Alive reports whether an owner that cannot be checked here may be alive.
	Alive(owners.Owner) bool
	// Judges reports whether this process can decide which other processes are gone.
	Judges() bool
	// Leased reports whether an owner that was read some time ago may be alive.
	Leased(owners.Owner) bool
	// Announce notifies other processes about new rows of a run.
	Announce(run string)
	// Settled makes the current reading transaction see all rows with lower
	// numbers than its own, even those of concurrent writers.
	Settled(*Conn) error
	// Still locks out other writers until the end of the transaction and makes
	// them check their texts again.
	Still(*Conn) error

	// The last methods are for the store as a whole.

	// Subscribe starts receiving announcements of other processes.
	Subscribe()
	// Changes returns a number that differs after every write of any process.
	Changes(*Conn) (int64, error)
	// Query runs a read-only statement of a user.
	Query(ctx context.Context, s databases.Statement) error
	// Size returns the size in bytes.
	Size(*Conn) (int64, error)
	// Shrink returns unused space to the system and returns the number of bytes
	// that stay free.
	Shrink(context.Context) (free int64, err error)
}

// A Dialect has the parts of SQL statements that differ between stores.
type Dialect struct {
	read    string // begins a reading transaction with one snapshot
	Owner   string // the owner of a run; NULL if it is known to be gone
	Lock    string // suffix that locks the rows of a query
	List    string // aggregates a column, with commas
	Within  string // function: position of a text in another, or 0
	Forgets bool   // a crash of the store's machine may lose confirmed data
}
