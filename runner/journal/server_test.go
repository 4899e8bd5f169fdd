package journal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/internal/postgrestest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// onServer is the PostgreSQL of the second round of tests. Each test without onFile
// runs over a SQLite file. If PostgreSQL is installed, it runs again over PostgreSQL.
var onServer *postgrestest.Cluster

// suite runs all tests over each store, or over one requested store.
func suite(m *testing.M) int {
	debug.SetGCPercent(1600) // most tests use little memory
	debug.SetMemoryLimit(512 << 20)
	failed := 0
	if os.Getenv("CAPSTAN_ONLY_SERVER") == "" {
		failed = m.Run()
	}
	if failed != 0 || os.Getenv("CAPSTAN_ONLY_FILE") != "" {
		return failed
	}
	for _, name := range []string{"test.bench", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return failed
		}
	}
	c, err := postgrestest.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "not over PostgreSQL:", err)
		return failed
	}
	defer c.Stop()
	// Bytes have the format of older clients, which some databases are set to.
	if err := c.Do("template1", "ALTER DATABASE postgres SET bytea_output = 'escape'"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	onServer = c
	fmt.Fprintln(os.Stderr, "over PostgreSQL:")
	// go test caches results by the files that a test reads; it cannot track
	// those of two rounds.
	if err := flag.Set("test.testlogfile", ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// at returns the location of a store: the file, or a schema in its place.
// Schemas are reused, because they are expensive.
func at(t testing.TB, file string) string {
	if onServer == nil || postgres.IsAddress(file) {
		return file
	}
	schemas.Lock()
	defer schemas.Unlock()
	if schemas.of == nil {
		schemas.of = map[string]string{}
	}
	name, known := schemas.of[file]
	if !known {
		if n := len(schemas.free); n > 0 {
			name, schemas.free = schemas.free[n-1], schemas.free[:n-1]
		} else {
			schemas.made++
			name = fmt.Sprintf("j%d", schemas.made)
		}
		schemas.of[file] = name
		t.Cleanup(func() { giveBack(t, file, name) })
	}
	return onServer.Address("postgres") + "&search_path=" + name
}

var schemas struct {
	sync.Mutex
	made    int
	free    []string
	of      map[string]string
	emptier *pgconn.PgConn
}

func giveBack(t testing.TB, file, name string) {
	empty := "SET search_path = " + name
	for _, table := range append(tables, "process") {
		empty += "; DELETE FROM " + table
	}
	schemas.Lock()
	defer schemas.Unlock()
	delete(schemas.of, file)
	if onEmptier(empty+"; DELETE FROM blob; DELETE FROM blob_time; ALTER SEQUENCE run_n_seq RESTART") == nil && !t.Failed() {
		schemas.free = append(schemas.free, name)
	}
}

// onEmptier runs statements over one connection for all tests, because
// connecting is expensive. It reconnects after a test that stopped the server.
func onEmptier(statements string) (err error) {
	if schemas.emptier == nil || schemas.emptier.IsClosed() {
		if schemas.emptier, err = pgconn.Connect(context.Background(), onServer.Address("postgres")); err != nil {
			return err
		}
	}
	return schemas.emptier.Exec(context.Background(), statements).Close()
}

// onFile is for tests that need a file, and for expensive tests whose statements other
// tests execute on a server.
func onFile(t testing.TB) {
	if t.Helper(); onServer != nil {
		t.Skip("of files")
	}
}

// serverOnly is for tests that need a server.
func serverOnly(t testing.TB) *postgrestest.Cluster {
	if t.Helper(); onServer == nil {
		t.Skip("of servers")
	}
	return onServer
}

func TestAddress(t *testing.T) {
	for _, address := range []string{"postgres://me:hunter2hunter2@db.example/x?search_path=a%20b", "postgres://me:hunter2hunter2@:bad:/x", "postgresql://me:hunter2hunter2@h/x?sslmode=wrong"} {
		s, err := stores.NewPostgres(&stores.DB{}, address)
		if words := fmt.Sprint(s, err); strings.Contains(words, "hunter2") {
			t.Errorf("the password is reported: %s", words)
		}
	}
}

// If a process of another machine is silent, its runs can be resumed after the end of
// its lease by the server's clock. Later writes of that process are rejected.
func TestPausedOwner(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	hourAhead := func() time.Time { return time.Now().Add(time.Hour) }
	first, second := journalAt(t, where, Options{Lease: time.Minute}), journalAt(t, where, Options{Now: hourAhead, Lease: time.Minute})
	r := begin(t, first, runner.Start{RunID: "run"})
	before := 0
	h := r.Host(counted{quick{"one"}, &before})
	if _, err := h.Model("p/model[0]", model.Request{}); err != nil {
		t.Fatal(err)
	}
	paused(t, first)
	if _, err := second.Reopen("run"); !errors.Is(err, runner.ErrRunBusy) {
		t.Fatalf("with the lease standing: %v", err)
	}
	if lost, err := second.Abandoned(t.Context()); err != nil || len(lost) > 0 {
		t.Fatalf("got %v, %v", lost, err)
	}
	overdue(t, second)
	if lost, err := second.Abandoned(t.Context()); err != nil || !slices.Equal(lost, []string{"run"}) {
		t.Fatalf("got %v, %v", lost, err)
	}
	for j, want := range map[*Journal]string{first: Running, second: engine.Cancelled} { // a process knows that it lives itself
		if run, err := j.Run(t.Context(), "run"); err != nil || run.Status != want {
			t.Errorf("got %+v, %v, want %s", run, err, want)
		}
	}
	if lost, err := first.Abandoned(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("got %v, %v", lost, err)
	}
	again := reopen(t, second, "run")
	if run, err := first.Run(t.Context(), "run"); err != nil || run.Owner == "" || run.Status != Running {
		t.Errorf("got %+v, %v", run, err)
	}
	made := 0
	resp, err := again.Host(counted{quick{"two"}, &made}).Model("p/model[0]", model.Request{})
	if err != nil || resp.Text != "one" || made != 0 {
		t.Fatalf("got %+v, %v after %d calls", resp, err, made)
	}
	// It wakes.
	if err := r.(*recording).commit(); err == nil {
		h.Emit(event.Event{Kind: event.Feedback, Path: "p"})
		err = r.(*recording).commit()
		if !errors.Is(err, runner.ErrRunTaken) {
			t.Errorf("what it had was written: %v", err)
		}
	}
	if err := first.db.Store.(*stores.Postgres).Renew(first.db.Writer); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Model("p/model[1]", model.Request{}); !errors.Is(err, runner.ErrRunTaken) || before != 1 {
		t.Errorf("it made an effect: %v", err)
	}
	if err := r.End(engine.Result{Status: engine.Succeeded}, nil); !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("it ended the run: %v", err)
	}
	if err := again.End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
}

// paused simulates a journal whose process is silent and on another machine.
func paused(t *testing.T, j *Journal) {
	t.Helper()
	j.db.Owner.Close()
	far := j.db.Owner
	far.Place = owners.Place{Host: "far", Boot: "b", Space: "s"}
	if err := j.db.Writer.Do(func(c *stores.Conn) error { _, err := c.Exec("UPDATE run SET owner = ?", far.Text()); return err }); err != nil {
		t.Fatal(err)
	}
}

// overdue ends the leases of all other journals.
func overdue(t *testing.T, j *Journal) {
	t.Helper()
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("UPDATE process SET until = now() - interval '1 second' WHERE key <> ?", j.db.Owner.Key)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counted counts the calls of a model.
type counted struct {
	quick
	made *int
}

func (c counted) Model(at event.Path, req model.Request) (model.Response, error) {
	*c.made++
	return c.quick.Model(at, req)
}

// During a restart or a crash of the server, runs wait and continue.
func TestServerAway(t *testing.T) {
	c := serverOnly(t)
	t.Run("stopped", func(t *testing.T) { serverAway(t, c, c.Halt) })
	t.Run("crashed", func(t *testing.T) { serverAway(t, c, c.Crash) })
}

// If a server closes an idle connection, the next user reconnects.
func TestServerLetsGo(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, at(t, filepath.Join(t.TempDir(), "j.db"))+"&idle_session_timeout=100", Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(quick{"one"})
	for i := range 2 {
		time.Sleep(300 * time.Millisecond)
		if _, err := j.Run(t.Context(), "run"); err != nil {
			t.Errorf("who reads: %v", err)
		}
		if _, err := h.Model(event.Path(fmt.Sprintf("p/model[%d]", i)), model.Request{}); err != nil {
			t.Errorf("who writes: %v", err)
		}
	}
	if err := r.End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Error(err)
	}
	if n := len(effectsOf(t, j, "run")); n != 2 {
		t.Errorf("%d effects are kept", n)
	}
}

func serverAway(t *testing.T, c *postgrestest.Cluster, stop func()) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(quick{"one"})
	for i := range 4 {
		if i == 2 {
			stop()
			if _, err := j.Run(t.Context(), "run"); !errors.Is(err, runner.ErrAway) {
				t.Errorf("a reader gets %v", err)
			}
			ready := make(chan error)
			go func() { ready <- c.Go() }()
			defer func() {
				if err := <-ready; err != nil {
					t.Error(err)
				}
			}()
		}
		if _, err := h.Model(event.Path(fmt.Sprintf("p/model[%d]", i)), model.Request{}); err != nil {
			t.Fatalf("effect %d: %v", i, err)
		}
	}
	if err := r.End(engine.Result{RunID: "run", Status: engine.Succeeded, Output: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(effectsOf(t, j, "run")); n != 4 {
		t.Errorf("%d effects are kept", n)
	}
}

// Writes of other processes send notifications. A journal that receives none polls.
func TestNews(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	one, other := journalAt(t, where, Options{}), journalAt(t, where, Options{})
	reported := make(chan bool, 100)
	defer other.Watch("run", func() { reported <- true })()
	for !other.db.Store.(*stores.Postgres).Notifications.Listening.Load() {
		runtime.Gosched()
	}
	before, err := other.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := begin(t, one, runner.Start{RunID: "run"})
	if err := r.(*recording).commit(); err != nil {
		t.Fatal(err)
	}
	<-reported
	if after, err := other.Version(t.Context()); err != nil || after == before {
		t.Errorf("the version stays %d, %v", after, err)
	}
	other.db.Store.(*stores.Postgres).Notifications.Listening.Store(false)
	before, _ = other.Version(t.Context())
	if err := r.End(engine.Result{Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
	if after, err := other.Version(t.Context()); err != nil || after == before {
		t.Errorf("the version stays %d without notifications, %v", after, err)
	}
}

// A database that is not a journal is rejected with a message that contains no
// password.
func TestServerRefuses(t *testing.T) {
	c := serverOnly(t)
	base := c.Address("postgres")
	do := func(statements string) {
		t.Helper()
		if err := c.Do("postgres", statements); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE SCHEMA theirs; CREATE TABLE theirs.run (id int); CREATE ROLE weak LOGIN`)
	do(`CREATE ROLE guarded LOGIN PASSWORD 'hunter2hunter2'`)
	do(`CREATE DATABASE latin ENCODING 'SQL_ASCII' TEMPLATE template0`)
	newer := at(t, filepath.Join(t.TempDir(), "newer.db"))
	journalAt(t, newer, Options{}).Close()
	schema := newer[strings.LastIndex(newer, "=")+1:]
	do("UPDATE " + schema + ".store SET capstan_version = 8")
	defer do("UPDATE " + schema + ".store SET capstan_version = 7")
	for address, want := range map[string]string{
		base + "&search_path=theirs": "tables that are not a journal's",
		newer:                        "written by a newer capstan (format 8; this one has format 7)",
		strings.Replace(base, "tester@", "weak@", 1):                "no right to do that",
		strings.Replace(base, "/postgres?", "/nowhere?", 1):         "no such database",
		strings.Replace(base, "/postgres?", "/latin?", 1):           "SQL_ASCII; a journal needs UTF8",
		"postgres://me:hunter2hunter2@127.0.0.1:1/x":                "the server cannot be reached",
		"postgres://nobody:hunter2hunter2@" + hostOf(base):          "does not let this user in",
		"postgres://me:hunter2hunter2@127.0.0.1:1/x?search_path=$u": "search_path",
		"postgres://guarded:hunter2hunter3@" + hostOf(base):         "does not let this user in (the password goes in PGPASSWORD or ~/.pgpass): password authentication failed",
		"postgres://guarded@" + hostOf(base):                        "does not let this user in (the password goes in PGPASSWORD or ~/.pgpass): password authentication failed",
		"postgres://guarded:hunter2hunter2@" + hostOf(base):         "no right to do that",
	} {
		j, err := Open(address, Options{})
		if err == nil {
			j.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
		if away := errors.Is(err, runner.ErrAway); away != strings.Contains(want, "cannot be reached") {
			t.Errorf("%s: it may be there later: %v", address, away)
		}
	}
	if _, err := Open(base+"&search_path=empty", Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "no runs are kept there yet") {
		t.Errorf("an empty one that is looked at: %v", err)
	}
}

func hostOf(base string) string { return base[strings.Index(base, "@")+1:] }

// NULs and texts that look like escapes are read unchanged.
func TestOddTexts(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for i, words := range []string{"a\x00b", "\U0010FFFF0", "\U0010FFFF1\x00", strings.Repeat("long \x00 text ", 100)} {
		id := fmt.Sprint("run", i)
		saidRun(t, j, id, words, engine.Result{Status: engine.Succeeded}, runner.Start{})
		if got := saidBy(t, j, id); got != words {
			t.Errorf("%q came back as %q", words, got)
		}
	}
	if _, err := j.Query(t.Context(), "SELECT * FROM calls", 0); err != nil {
		t.Error(err)
	}
}

// A pooler of sessions works like the server. A pooler of transactions is
// rejected before a table is created in the wrong place.
func TestPooler(t *testing.T) {
	c := serverOnly(t)
	address, err := c.Pool("session", "postgres")
	if err != nil {
		t.Skip(err)
	}
	j := journalAt(t, address+"&search_path=pooled", Options{})
	saidRun(t, j, "run", "a text", engine.Result{Status: engine.Succeeded}, runner.Start{})
	if got := saidBy(t, j, "run"); got != "a text" {
		t.Errorf("got %q", got)
	}
	if there, err := j.db.Writer.C.Number("SELECT count(*) FROM pg_class WHERE relname = 'run' AND relnamespace = 'pooled'::regnamespace"); err != nil || there != 1 {
		t.Errorf("the tables are not in their schema: %v", err)
	}
	if address, err = c.Pool("transaction", "postgres"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := Open(address+"&search_path=pooled", o); err == nil || !strings.Contains(err.Error(), "a pooler of transactions") {
			t.Errorf("got %v", err)
		}
	}
}

// A process that waits for the tables reports that.
func TestSchemaHeld(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	other := journalAt(t, where, Options{})
	err := other.db.Writer.Do(func(c *stores.Conn) error {
		if err := c.Script("SELECT pg_advisory_xact_lock(" + fmt.Sprint(stores.Application) + ")"); err != nil {
			return err
		}
		old, err := Open(where+"_fresh", Options{})
		if err == nil || !strings.Contains(err.Error(), "another process holds the schema") {
			t.Errorf("got %v, %v", old, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
