package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/databases"
	"github.com/seed61713e19/capstan/internal/databases/postgres"
)

// A Postgres is a PostgreSQL database that processes of several machines share.
// There is no single writer as for a file. Each transaction locks the row of
// its run, and it fails if the run has another epoch.
type Postgres struct {
	db            *DB
	At            *postgres.Address
	Lease         lease
	Notifications notifications
	sweeps        int64 // number of sweeps that the writer has seen
	CorrectsClock bool  // adjusts the process's clock to the server's
	outage        time.Duration
	GaveUp        bool            // the last wait for the server failed
	life          context.Context // ends when the journal is closed
	ends          context.CancelFunc
	children      sync.WaitGroup
	subscribed    sync.Once // to notifications
}

// outage is how long a run waits for an unavailable server.
const outage = time.Minute

// maxServerReaders is the maximum number of reading connections of a process. A
// server allows a hundred for all processes by default.
const maxServerReaders = 6

// NewPostgres returns the store at an address.
func NewPostgres(db *DB, where string) (Store, error) {
	at, err := postgres.Parse(where)
	if err != nil {
		return nil, err
	}
	careful := "off"
	if db.Options.Power {
		careful = "on"
	}
	at.Set("synchronous_commit", careful)
	db.ReadSlots = make(chan struct{}, maxServerReaders)
	s := &Postgres{db: db, At: at, outage: outage, CorrectsClock: db.Options.Now == nil}
	if db.Options.Patience != DefaultPatience {
		s.outage = db.Options.Patience
	}
	s.Lease.duration = max(cmp.Or(db.Options.Lease, 10*time.Second), time.Second)
	return s, nil
}

// String returns the name without a password.
func (s *Postgres) String() string { return s.At.String() }

// Dialect implements [Store].
func (s *Postgres) Dialect() *Dialect {
	return &Dialect{
		read:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		Owner: "CASE WHEN owner IS NOT NULL AND (owner::json ->> 'external' IS NOT NULL OR owner::json ->> 'key' = '" + s.db.Owner.Key + "' OR EXISTS (SELECT 1 FROM process WHERE key = owner::json ->> 'key' AND until > clock_timestamp())) THEN owner END",
		Lock:  " FOR UPDATE", List: "string_agg(kind, ',')", Within: "strpos", Forgets: true,
	}
}

// Open checks that the schema is empty or a journal's, creates missing tables,
// and starts the lease of this process.
func (s *Postgres) Open() (*writer, error) {
	c, err := s.dial(context.Background())
	if err != nil {
		return nil, err
	}
	w, err := s.openWith(c)
	if err != nil || w == nil {
		c.Close()
	}
	return w, err
}

func (s *Postgres) openWith(c *Conn) (*writer, error) {
	if err := c.Link.(*postgres.Conn).Session(context.Background(), s.At); err != nil {
		if postgres.Own(err) {
			return nil, err
		}
		return nil, s.db.NewError(err.Error())
	}
	fresh, err := s.checkSchema(c)
	if err == nil && fresh {
		err = s.makeTables(c)
	}
	if err != nil {
		return nil, err
	}
	s.life, s.ends = context.WithCancel(context.Background())
	if s.db.Options.ReadOnly {
		return nil, nil
	}
	w := newWriter(s.db, c, nil)
	w.Trust = s.Lease.duration * 9 / 10
	if s.sweeps, err = c.Number("SELECT sweeps FROM store"); err == nil {
		err = s.Renew(w)
	}
	if err != nil {
		return nil, err
	}
	s.children.Go(func() { s.keepAlive(s.life, w) })
	return w, nil
}

func (s *Postgres) dial(ctx context.Context) (*Conn, error) {
	c, err := postgres.Dial(ctx, s.At, max(s.outage, time.Second))
	if err != nil {
		return nil, err
	}
	return &Conn{c}, nil
}

// Reader implements [Store].
func (s *Postgres) Reader() (*Conn, error) { return s.dial(context.Background()) }

// checkSchema reports whether there are no tables yet. It returns an error for
// a schema of another program or version.
func (s *Postgres) checkSchema(c *Conn) (fresh bool, err error) {
	encoding, err := c.One(context.Background(), "SELECT current_setting('server_encoding')")
	if err != nil {
		return false, err
	}
	if Text(encoding[0]) != "UTF8" {
		return false, s.db.NewError("the database has the encoding " + Text(encoding[0]) + "; a journal needs UTF8")
	}
	found, err := c.One(context.Background(), `SELECT count(*), count(*) FILTER (WHERE relname = 'store' AND EXISTS (
		SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'capstan_version'))
		FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) AND relkind IN ('r', 'p', 'v', 'm', 'f')`, s.At.Schema())
	if err != nil {
		return false, err
	}
	tables, own := Integer(found[0]), Integer(found[1]) > 0
	switch {
	case tables > 0 && !own:
		return false, s.db.NewError(fmt.Sprintf("the schema %s of this database holds tables that are not a journal's; ?search_path=NAME names another", s.At.Schema()))
	case tables == 0 && s.db.Options.ReadOnly:
		return false, &Error{file: s.String(), Message: "no runs are kept there yet", Err: ErrEmpty}
	case tables == 0:
		return true, nil
	}
	there, err := c.Number("SELECT capstan_version FROM store")
	if err == nil && there != version {
		err = s.db.otherVersion(there)
	}
	return false, err
}

// ErrEmpty is the error for a store without runs that was opened for reading.
var ErrEmpty = errors.New("capstan run makes the tables")

// schemaWait is how long a process waits while another process creates the tables.
const schemaWait = "5s"

// makeTables creates the tables in one transaction. A lock allows one process at a
// time.
func (s *Postgres) makeTables(c *Conn) error {
	schema := postgres.Quoted(s.At.Schema())
	err := c.Script("BEGIN; SET LOCAL search_path = " + schema +
		"; SET LOCAL lock_timeout = '" + schemaWait + "'; SELECT pg_advisory_xact_lock(" + fmt.Sprint(Application) + "); SET LOCAL lock_timeout = DEFAULT")
	if err != nil {
		return err
	}
	fresh, err := s.checkSchema(c) // another process may have created them
	if err == nil && fresh {
		err = s.createSchema(c, schema)
	}
	if err == nil {
		err = c.Script("COMMIT")
	}
	if err != nil {
		_ = c.Rollback()
	}
	return err
}

// createSchema creates the schema and its tables. Few users have the right to
// create a schema.
func (s *Postgres) createSchema(c *Conn, schema string) error {
	there, err := c.Number("SELECT count(*) FROM pg_namespace WHERE nspname = ?", s.At.Schema())
	if err == nil && there == 0 {
		err = c.Script("CREATE SCHEMA " + schema)
	}
	if err != nil {
		return err
	}
	text, err := scripts.ReadFile("schema/postgres.sql")
	if err != nil {
		return err
	}
	return c.Script(string(text) + fmt.Sprintf("UPDATE store SET capstan_version = %d", version))
}

// Close ends the lease of this process.
func (s *Postgres) Close() error {
	if s.ends != nil {
		s.ends()
	}
	s.subscribed.Do(func() {}) // prevents later subscriptions
	s.children.Wait()
	s.releaseLease()
	return nil
}

// Begin starts a transaction. Its statements are sent together with the
// following ones. It also checks that no texts known to the writer were
// removed, see still.
func (s *Postgres) Begin(w *writer) error {
	err := w.C.Send(postgres.First, nil, "BEGIN")
	if err == nil {
		err = w.C.Send(postgres.First, nil, sweptSince, s.sweeps)
	}
	return err
}

var (
	sweptSince = postgres.Unless("SELECT 1 FROM store WHERE sweeps = ?")
	heldBy     = postgres.Unless("SELECT 1 FROM run WHERE n = ? AND epoch = ? FOR SHARE")
)

// Hold implements [Store].
func (s *Postgres) Hold(c *Conn, n, epoch int64) error { return c.Queue(heldBy, n, epoch) }

// Still locks out other transactions until the end, and makes all writers check
// their texts again.
func (s *Postgres) Still(c *Conn) error {
	if err := c.Queue("LOCK TABLE store IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	return c.Queue("UPDATE store SET sweeps = sweeps + 1")
}

// Settled waits for a moment without writers and then reads the database. Numbers of
// rows are assigned before the rows are visible.
func (s *Postgres) Settled(c *Conn) error {
	return c.Script("SAVEPOINT here; LOCK TABLE store IN ACCESS EXCLUSIVE MODE; SELECT 1 FROM store; ROLLBACK TO SAVEPOINT here")
}

// Again prepares the writer for another try after a conflict with another
// process, or waits for an unavailable server. Data written before a connection
// broke may exist, and it is overwritten.
func (s *Postgres) Again(w *writer, err error, tries int) bool {
	switch code := postgres.Code(err); {
	case tries > 100:
		return false
	case postgres.Refused(err) && tries == 0, code == "40001" && tries < 5, code == "40P01" && tries < 5:
		return s.reset(w) == nil
	case s.Away(err):
		return s.reconnect(w)
	}
	return false
}

// reset drops everything that the writer knows about the store.
func (s *Postgres) reset(w *writer) (err error) {
	w.EndEra()
	clear(w.Known)
	s.sweeps, err = w.C.Number("SELECT sweeps FROM store")
	return err
}

func (s *Postgres) reconnect(w *writer) bool {
	patience := s.outage
	if s.GaveUp {
		patience /= 4
	}
	left := max(patience-time.Since(w.lastTry), patience/4) // a silent server was already waited for
	ctx, cancel := context.WithTimeout(context.Background(), left)
	defer cancel()
	for wait := 20 * time.Millisecond; ctx.Err() == nil && !s.db.Closed.Load(); wait = min(2*wait, time.Second) {
		c, err := s.dial(ctx)
		if err == nil {
			_ = w.C.Close()
			w.C = c
			err = s.reset(w)
		}
		if s.GaveUp = s.GaveUp && err != nil; err == nil {
			return true
		}
		if !postgres.Away(err) {
			return false
		}
		time.Sleep(wait)
	}
	s.GaveUp = true
	return false
}

// Fault implements [Store].
func (s *Postgres) Fault(err error) error {
	if err == nil || !postgres.Own(err) {
		return err
	}
	words, shown := postgres.Words(err)
	return &Error{file: s.String(), Message: words, Err: shown, Unavailable: postgres.Away(err) || postgres.Full(err)}
}

// Broken implements [Store].
func (s *Postgres) Broken(err error) bool { return postgres.Away(err) }

// Away reports whether the server is unavailable. It ignores the run's own errors.
func (s *Postgres) Away(err error) bool {
	var reported *Error
	return postgres.Away(err) && !errors.As(err, &reported)
}

// Wrong implements [Store].
func (s *Postgres) Wrong(err error) bool { return !postgres.Own(err) || postgres.Wrong(err) }

// Query runs a statement on its own read-only connection. The server enforces that it
// is a single statement.
func (s *Postgres) Query(ctx context.Context, one databases.Statement) error {
	_, err := postgres.Query(ctx, s.At, one)
	return err
}

// Size returns the size of the tables and indexes in bytes.
func (s *Postgres) Size(c *Conn) (int64, error) {
	return c.Number("SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?)", s.At.Schema())
}

// Shrink makes the server reuse the space of deleted rows.
func (s *Postgres) Shrink(ctx context.Context) (int64, error) {
	c, err := s.dial(context.Background())
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for _, table := range strings.Fields("run start result pack text mark") {
		if err := errors.Join(ctx.Err(), c.Script("VACUUM "+table)); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
