package stores

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
)

// A DB is an open store with its connections: one for writing, and a pool for reading. It is safe
// for concurrent use.
type DB struct {
	Store       Store
	Dialect     *Dialect
	Options     Options
	Owner       owners.Owner
	Writer      *writer       // nil if the store is read-only
	Readers     chan *Conn    // idle connections
	ReadSlots   chan struct{} // one element for each reader
	Closed      atomic.Bool
	ClockOffset atomic.Int64 // nanoseconds that the store's clock is ahead of this process's

	watchMu sync.Mutex
	watch   *Conn // connection for queries about changes
}

// Options are the options of an open store.
type Options struct {
	Power, ReadOnly, TakeOver, Single bool // as those of a journal
	Now                               func() time.Time
	Lease                             time.Duration
	Patience                          time.Duration    // how long to wait for a lock of another process
	NoSync                            bool             // nothing is synced; for tests
	Changed                           func(run string) // receives the names of runs that other processes have written; "" for all runs
}

// MaxReaders is the maximum number of connections that read at the same time;
// further readers wait. SQLite keeps a closed descriptor open while another
// connection of the process locks the file, so the number of descriptors never
// falls.
const MaxReaders = 16

// Open opens the store at a location.
func Open(where string, o Options) (*DB, error) {
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	db := &DB{Options: o, Owner: owners.New(), Readers: make(chan *Conn, MaxReaders), ReadSlots: make(chan struct{}, MaxReaders)}
	var err error
	db.Store, err = db.storeAt(where)
	if o.Now == nil {
		db.Options.Now = time.Now
	}
	if err == nil {
		db.Dialect = db.Store.Dialect()
		if db.Writer, err = db.Store.Open(); err != nil {
			err = errors.Join(db.Fault(err), db.Store.Close())
		}
	}
	if err != nil {
		db.Owner.Close()
		return nil, err
	}
	return db, nil
}

// storeAt returns the store at a location.
func (db *DB) storeAt(where string) (Store, error) {
	if postgres.IsAddress(where) {
		return NewPostgres(db, where)
	}
	if where == "" || strings.ContainsRune(where, 0) {
		return nil, errors.New("a journal needs the name of a file")
	}
	// Connections are opened later too, when the working directory may have
	// changed.
	file, err := filepath.Abs(where)
	return &SQLite{db: db, File: file}, err
}

// Close calls stop, waits for the current writes, and for a limited time for the
// current reads.
func (db *DB) Close(stop func()) error {
	if db.Closed.Swap(true) {
		return nil
	}
	stop()
	err := db.closeReaders()
	if db.Writer != nil { // the writer closes last, so that SQLite can remove its log
		err = errors.Join(err, db.Writer.close())
	}
	err = errors.Join(err, db.Store.Close())
	db.Owner.Close()
	return db.Fault(err)
}

// Alive parses an owner and reports whether the owner may be running.
func (db *DB) Alive(text string) (owners.Owner, bool) {
	return db.Owner.Alive(text, db.Store.Alive)
}

// closeReaders waits for the current readers and closes their connections.
func (db *DB) closeReaders() (err error) {
	late := time.After(db.Options.Patience)
	for waits := 0; waits < cap(db.ReadSlots); waits++ {
		select {
		case db.ReadSlots <- struct{}{}:
			defer func() { <-db.ReadSlots }() // waiting readers then find the journal closed
		case <-late:
			waits = cap(db.ReadSlots)
		}
	}
	for len(db.Readers) > 0 {
		err = errors.Join(err, (<-db.Readers).Close())
	}
	db.watchMu.Lock()
	defer db.watchMu.Unlock()
	if db.watch != nil {
		err = errors.Join(err, db.watch.Close())
		db.watch = nil
	}
	return err
}

// Now returns the time, by the store's clock if it has one.
func (db *DB) Now() time.Time { return db.Options.Now().Add(time.Duration(db.ClockOffset.Load())) }

// Sync makes the server sync the transaction to disk before it confirms
// it. The start, the end and the owner of a run must survive a crash.
func (db *DB) Sync(c *Conn) error {
	if !db.Dialect.Forgets {
		return nil
	}
	return c.Queue("SET LOCAL synchronous_commit = on")
}

// Watch runs body, which must read one row, with the connection for
// queries about changes. Calls are serialized.
func (db *DB) Watch(body func(*Conn) error) error {
	db.watchMu.Lock()
	defer db.watchMu.Unlock()
	if db.Closed.Load() {
		return ErrClosed
	}
	if db.watch == nil {
		c, err := db.Store.Reader()
		if err != nil {
			return db.Fault(err)
		}
		db.watch = c
	}
	err := body(db.watch)
	if db.Store.Broken(err) {
		db.watch.Close()
		db.watch = nil
	}
	return db.Fault(err)
}
