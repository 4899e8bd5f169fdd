package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/postgres"
	"github.com/seed61713e19/capstan/runner/journal/statements"
)

// A server is a database of PostgreSQL, which processes of several machines
// share. Nobody has it for himself, as the one writer of a file has: a run's row
// is locked in each transaction that writes of it, and the transaction fails
// where the run has another epoch.
type server struct {
	j        *Journal
	at       *postgres.Address
	pulse    lease
	news     news
	sweeps   int64 // as the writer saw it last
	corrects bool  // the process's clock, by the server's
	outage   time.Duration
	vain     bool            // the server was waited for so long, and is not back
	life     context.Context // until the journal is closed
	ends     context.CancelFunc
	children sync.WaitGroup
	attends  sync.Once // to what others tell
}

// serverVersion is the version of the tables that this package writes there.
const serverVersion = 2

// serverSums is the first version of the tables there that has checksums.
const serverSums = 2

// outage is how long a run waits for a server that is away.
const outage = time.Minute

// maxServerReaders is how many connections of a process read at the same time: a
// server has a hundred for all.
const maxServerReaders = 6

// newServer reads an address.
func newServer(j *Journal, where string) (store, error) {
	at, err := postgres.Parse(where)
	if err != nil {
		return nil, err
	}
	careful := "off"
	if j.options.Power {
		careful = "on"
	}
	at.Set("synchronous_commit", careful)
	j.reads = make(chan struct{}, maxServerReaders)
	s := &server{j: j, at: at, outage: outage, corrects: j.options.Now == nil}
	if j.options.patience != patience {
		s.outage = j.options.patience
	}
	s.pulse.length = max(cmp.Or(j.options.Lease, 10*time.Second), time.Second)
	return s, nil
}

func (s *server) String() string { return s.at.String() }

func (s *server) dialect() *dialect {
	return &dialect{
		sum:   "sum",
		read:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		owner: "CASE WHEN owner IS NOT NULL AND (owner::json ->> 'guest' IS NOT NULL OR owner::json ->> 'key' = '" + s.j.owner.Key + "' OR EXISTS (SELECT 1 FROM process WHERE key = owner::json ->> 'key' AND until > clock_timestamp())) THEN owner END",
		lock:  " FOR UPDATE", list: "string_agg(kind, ',')", within: "strpos", single: true, forgets: true,
	}
}

// open checks that the schema is a journal's or empty, makes the tables, and has
// this process known to live.
func (s *server) open() (*writer, error) {
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

func (s *server) openWith(c *conn) (*writer, error) {
	if err := c.link.(*postgres.Conn).Session(context.Background(), s.at); err != nil {
		if postgres.Own(err) {
			return nil, err
		}
		return nil, s.j.damaged(err.Error())
	}
	version, err := s.recognise(c)
	if err != nil {
		return nil, err
	}
	switch {
	case version < serverVersion && !s.j.options.ReadOnly:
		err = s.migrate(c)
	case version < serverSums:
		s.j.says.sum = "NULL"
	}
	if err != nil {
		return nil, err
	}
	s.life, s.ends = context.WithCancel(context.Background())
	if s.j.options.ReadOnly {
		return nil, nil
	}
	w := newWriter(s.j, c, nil)
	w.trusts = s.pulse.length * 9 / 10
	if s.sweeps, err = c.number("SELECT sweeps FROM store"); err == nil {
		err = s.beat(w)
	}
	if err != nil {
		return nil, err
	}
	s.children.Go(func() { s.live(s.life, w) })
	return w, nil
}

func (s *server) dial(ctx context.Context) (*conn, error) {
	c, err := postgres.Dial(ctx, s.at, max(s.outage, time.Second))
	if err != nil {
		return nil, err
	}
	return &conn{c}, nil
}

func (s *server) reader() (*conn, error) { return s.dial(context.Background()) }

// recognise gives the version of the tables, 0 where there are none, and refuses
// a schema that is somebody else's, or newer.
func (s *server) recognise(c *conn) (version int64, err error) {
	encoding, err := c.one(context.Background(), "SELECT current_setting('server_encoding')")
	if err != nil {
		return 0, err
	}
	if word(encoding[0]) != "UTF8" {
		return 0, s.j.damaged("the database has the encoding " + word(encoding[0]) + "; a journal needs UTF8")
	}
	found, err := c.one(context.Background(), `SELECT count(*), count(*) FILTER (WHERE relname = 'store' AND EXISTS (
		SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'capstan_version'))
		FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?) AND relkind IN ('r', 'p', 'v', 'm', 'f')`, s.at.Schema())
	if err != nil {
		return 0, err
	}
	tables, ours := integer(found[0]), integer(found[1]) > 0
	switch {
	case tables > 0 && !ours:
		return 0, s.j.damaged(fmt.Sprintf("the schema %s of this database holds tables that are not a journal's; ?search_path=NAME names another", s.at.Schema()))
	case tables == 0 && s.j.options.ReadOnly:
		return 0, &damage{file: s.String(), words: "no runs are kept there yet", err: ErrEmpty}
	case tables == 0:
		return 0, nil
	}
	version, err = c.number("SELECT capstan_version FROM store")
	if err == nil && version > serverVersion {
		err = s.j.damaged(fmt.Sprintf("the journal was written by a newer capstan (schema %d; this one knows %d)", version, serverVersion))
	}
	return version, err
}

// ErrEmpty says that nothing is kept in a database or a file yet, which was to be looked at.
var ErrEmpty = errors.New("capstan run makes the tables")

// schemaWait is how long a process waits for another one that makes the tables.
const schemaWait = "5s"

// migrate makes the tables, in one transaction that only one process makes.
func (s *server) migrate(c *conn) error {
	err := c.Script("BEGIN; SET LOCAL search_path = " + postgres.Quoted(s.at.Schema()) +
		"; SET LOCAL lock_timeout = '" + schemaWait + "'; SELECT pg_advisory_xact_lock(" + fmt.Sprint(application) + "); SET LOCAL lock_timeout = DEFAULT")
	if err != nil {
		return err
	}
	version, err := s.recognise(c) // another process may have been here
	if err == nil && version < serverVersion {
		err = s.make(c, version)
	}
	if err == nil {
		err = c.Script("COMMIT")
	}
	if err != nil {
		_ = c.Rollback()
	}
	return err
}

func (s *server) make(c *conn, version int64) error {
	there, err := c.number("SELECT count(*) FROM pg_namespace WHERE nspname = ?", s.at.Schema())
	if err == nil && there == 0 {
		err = c.Script("CREATE SCHEMA " + postgres.Quoted(s.at.Schema()))
	}
	for version++; version <= serverVersion && err == nil; version++ {
		err = s.apply(c, fmt.Sprintf("schema/postgres/%d.sql", version))
	}
	if err == nil {
		err = s.apply(c, "schema/postgres/views.sql")
	}
	if err == nil {
		_, err = c.Exec("UPDATE store SET capstan_version = ?", int64(serverVersion))
	}
	return err
}

func (s *server) apply(c *conn, name string) error {
	text, err := scripts.ReadFile(name)
	if err == nil {
		err = c.Script(string(text))
	}
	return err
}

// close lets other processes know at once that this one is gone.
func (s *server) close() error {
	if s.ends != nil {
		s.ends()
	}
	s.attends.Do(func() {}) // nobody begins to, from now on
	s.children.Wait()
	s.leave()
	return nil
}

// begin begins a transaction. It goes to the server with what follows. That texts
// which the writer knows of were not removed is looked at behind the lock that
// the look itself takes: see still.
func (s *server) begin(w *writer) error {
	err := w.c.Send(postgres.First, nil, "BEGIN")
	if err == nil {
		err = w.c.Send(postgres.First, nil, sweptSince, s.sweeps)
	}
	return err
}

var (
	sweptSince = postgres.Unless("SELECT 1 FROM store WHERE sweeps = ?")
	heldBy     = postgres.Unless("SELECT 1 FROM run WHERE n = ? AND epoch = ? FOR SHARE")
)

func (s *server) hold(c *conn, n, epoch int64) error { return c.send(heldBy, n, epoch) }

// still lets no other transaction write from then on, and has each look for texts
// anew.
func (s *server) still(c *conn) error {
	if err := c.send("LOCK TABLE store IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	return c.send("UPDATE store SET sweeps = sweeps + 1")
}

// settled waits for a moment in which nobody writes, and looks at the database
// as it is then: numbers of rows are given before the rows can be seen.
func (s *server) settled(c *conn) error {
	return c.Script("SAVEPOINT here; LOCK TABLE store IN ACCESS EXCLUSIVE MODE; SELECT 1 FROM store; ROLLBACK TO SAVEPOINT here")
}

// again tries once more what another process was in the way of, and waits for a
// server that is away. What was written before a connection broke may be there or
// not, and is written over.
func (s *server) again(w *writer, err error, tries int) bool {
	switch code := postgres.Code(err); {
	case tries > 100:
		return false
	case postgres.Refused(err) && tries == 0, code == "40001" && tries < 5, code == "40P01" && tries < 5:
		return s.afresh(w) == nil
	case s.away(err):
		return s.reconnect(w)
	}
	return false
}

// afresh has the writer trust nothing that it has seen.
func (s *server) afresh(w *writer) (err error) {
	w.endEra()
	clear(w.known)
	s.sweeps, err = w.c.number("SELECT sweeps FROM store")
	return err
}

func (s *server) reconnect(w *writer) bool {
	patience := s.outage
	if s.vain {
		patience /= 4
	}
	left := max(patience-time.Since(w.tried), patience/4) // one that says nothing was waited for already
	ctx, cancel := context.WithTimeout(context.Background(), left)
	defer cancel()
	for wait := 20 * time.Millisecond; ctx.Err() == nil && !s.j.closed.Load(); wait = min(2*wait, time.Second) {
		c, err := s.dial(ctx)
		if err == nil {
			_ = w.c.Close()
			w.c = c
			err = s.afresh(w)
		}
		if s.vain = s.vain && err != nil; err == nil {
			return true
		}
		if !postgres.Away(err) {
			return false
		}
		time.Sleep(wait)
	}
	s.vain = true
	return false
}

func (s *server) fault(err error) error {
	if err == nil || !postgres.Own(err) {
		return err
	}
	words, told := postgres.Words(err)
	return &damage{file: s.String(), words: words, err: told, away: postgres.Away(err) || postgres.Full(err)}
}

func (s *server) broken(err error) bool { return postgres.Away(err) }

// away tells nothing of what a run was told before, which is in words.
func (s *server) away(err error) bool {
	var told *damage
	return postgres.Away(err) && !errors.As(err, &told)
}

func (s *server) wrong(err error) bool { return !postgres.Own(err) || postgres.Wrong(err) }

// query runs a statement on a connection of its own, which reads the journal alone.
// The server sees to it that it is one.
func (s *server) query(ctx context.Context, one statements.Statement) error {
	_, err := postgres.Query(ctx, s.at, one)
	return err
}

// size is what the tables take, with their indexes.
func (s *server) size(c *conn) (int64, error) {
	return c.number("SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?)", s.at.Schema())
}

// shrink has the server find what nothing takes any more: it uses that for what
// comes next.
func (s *server) shrink(ctx context.Context) (int64, error) {
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
