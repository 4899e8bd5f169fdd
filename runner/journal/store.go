package journal

import (
	"context"

	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/runner/journal/statements"
)

// A store is where a journal's tables are: a file of SQLite, or a database of
// PostgreSQL. What one does otherwise than the other is here. Packs, texts,
// recording, replay, folding, pruning, sharing and fencing are common.
type store interface {
	// String is its name, without a password.
	String() string
	// open checks what is there, makes the tables or brings them up to date, and
	// gives what writes; nil where the journal is only looked at.
	open() (*writer, error)
	// reader connects to read.
	reader() (*conn, error)
	// dialect is what statements are made of.
	dialect() *dialect
	// close is called when all connections of the journal are closed.
	close() error

	storeErrors
	storeWrites
	storeShows
}

// storeErrors tell what an error means.
type storeErrors interface {
	fault(error) error // says in words what is wrong with the store
	broken(error) bool // the connection is of no use any more
	wrong(error) bool  // it is a statement's, and not the store's
	away(error) bool   // nobody's statements are taken, for all that was waited for it
}

// storeWrites are the steps of a transaction that several processes care for.
type storeWrites interface {
	// begin begins one. Where somebody else may have written it has the writer
	// begin a new era.
	begin(*writer) error
	// again readies the writer for another try of what failed so for the tries-th
	// time; false where that is of no use.
	again(w *writer, err error, tries int) bool
	// hold keeps the run from being taken until the end, and has the transaction
	// fail where its epoch is another.
	hold(c *conn, n, epoch int64) error
	// bury notes that the owner of a run that is taken is gone; false where it is
	// not.
	bury(c *conn, owner string) (bool, error)
	// alive tells whether an owner of whom nothing can be told here may live.
	alive(owners.Owner) bool
	// judges tells whether it can be known here, now, who is gone.
	judges() bool
	// leased tells whether an owner that was named some time ago may live.
	leased(owners.Owner) bool
	// told tells other processes that there is more of a run.
	told(run string)
	// settled has the reading transaction that has just begun see all that whoever
	// wrote before it has written, whatever numbers it got.
	settled(*conn) error
	// still keeps others from writing until the end, and has them look whether
	// texts that they know of are there.
	still(*conn) error
}

// storeShows are what is asked of the store as a whole.
type storeShows interface {
	// attend has this process hear, from now on, what others tell.
	attend()
	// changes is another number whenever something was written by anybody.
	changes(*conn) (int64, error)
	// query runs one statement of a person, which cannot write.
	query(ctx context.Context, s statements.Statement) error
	// size is how many bytes it takes.
	size(*conn) (int64, error)
	// shrink gives room back that nothing takes, and tells what it could not.
	shrink(context.Context) (free int64, err error)
}

// A dialect is what the statements of a store are made of, where they are not
// the same.
type dialect struct {
	read    string // begins a transaction that reads, on one unchanging view
	owner   string // the owner of a run; none where it is known to be gone
	lock    string // at the end of a query: its rows stay as they are until the end of the transaction
	sum     string // the checksum of a row; NULL where the tables have none
	list    string // the words of a column with commas between them
	within  string // a function: where a text has another one, 0 for nowhere
	single  bool   // a connection gives one answer at a time
	lines   bool   // capstans of long ago may have written rows one by one
	forgets bool   // what was confirmed may be lost when the store's own machine fails
}
