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

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/runner/journal/postgres"
	"github.com/seed61713e19/capstan/runner/journal/postgres/postgrestest"
	"github.com/seed61713e19/capstan/runner/model"
)

// onServer is where journals are kept in the second round of the tests: each of
// those that say nothing of a file is run over a file of SQLite first, and then
// over PostgreSQL, where that is installed.
var onServer *postgrestest.Cluster

// suite runs all tests over each store, or over the one that is asked for.
func suite(m *testing.M) int {
	debug.SetGCPercent(1600) // what they hold is little, but for some
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
	// Bytes are given as older programs want them, which databases have set for those.
	if err := c.Do("template1", "ALTER DATABASE postgres SET bytea_output = 'escape'"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	onServer = c
	fmt.Fprintln(os.Stderr, "over PostgreSQL:")
	// By what a round reads go test knows when it may pass for run; of two rounds it
	// can read nothing.
	if err := flag.Set("test.testlogfile", ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// at is where the store of that name is: the file, or a schema that stands for
// it. Schemas are dear to make, so they are used again.
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
	if onEmptier(empty+"; DROP TABLE IF EXISTS parcel, posted; ALTER SEQUENCE run_n_seq RESTART; ALTER SEQUENCE pack_id_seq RESTART") == nil && !t.Failed() {
		schemas.free = append(schemas.free, name)
	}
}

// onEmptier runs statements over one connection for all tests, made anew where a
// test has had the server gone: a connection costs more than what is said there.
func onEmptier(statements string) (err error) {
	if schemas.emptier == nil || schemas.emptier.IsClosed() {
		if schemas.emptier, err = pgconn.Connect(context.Background(), onServer.Address("postgres")); err != nil {
			return err
		}
	}
	return schemas.emptier.Exec(context.Background(), statements).Close()
}

// onFile is for tests of what only a file has.
func onFile(t testing.TB) {
	if t.Helper(); onServer != nil {
		t.Skip("of files")
	}
}

// serverOnly is for tests of what only a server has.
func serverOnly(t testing.TB) *postgrestest.Cluster {
	if t.Helper(); onServer == nil {
		t.Skip("of servers")
	}
	return onServer
}

func TestAddress(t *testing.T) {
	j := &Journal{}
	for _, address := range []string{"postgres://me:hunter2hunter2@db.example/x?search_path=a%20b", "postgres://me:hunter2hunter2@:bad:/x", "postgresql://me:hunter2hunter2@h/x?sslmode=wrong"} {
		s, err := newServer(j, address)
		if said := fmt.Sprint(s, err); strings.Contains(said, "hunter2") {
			t.Errorf("the password is told: %s", said)
		}
	}
}

// A process of another machine that is heard of no more: its runs are gone on
// with when its lease is over, by the server's clock alone, and what it writes
// when it comes back is refused.
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
	if gone, err := second.Abandoned(t.Context()); err != nil || len(gone) > 0 {
		t.Fatalf("got %v, %v", gone, err)
	}
	overdue(t, second)
	if gone, err := second.Abandoned(t.Context()); err != nil || !slices.Equal(gone, []string{"run"}) {
		t.Fatalf("got %v, %v", gone, err)
	}
	for j, want := range map[*Journal]string{first: Running, second: runner.Cancelled} { // it knows of itself that it lives
		if run, err := j.Run(t.Context(), "run"); err != nil || run.Status != want {
			t.Errorf("got %+v, %v, want %s", run, err, want)
		}
	}
	if gone, err := first.Abandoned(t.Context()); err != nil || len(gone) > 0 {
		t.Errorf("got %v, %v", gone, err)
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
		r.(*recording).put(row{kind: legBegins})
		err = r.(*recording).commit()
		if !errors.Is(err, runner.ErrRunTaken) {
			t.Errorf("what it had was written: %v", err)
		}
	}
	if err := first.store.(*server).beat(first.writer); err != nil {
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

// paused makes a journal's process one of another machine that is heard of no
// more.
func paused(t *testing.T, j *Journal) {
	t.Helper()
	j.owner.Close()
	far := j.owner
	far.Place = owners.Place{Host: "far", Boot: "b", Space: "s"}
	if err := j.writer.do(func(c *conn) error { _, err := c.Exec("UPDATE run SET owner = ?", far.Text()); return err }); err != nil {
		t.Fatal(err)
	}
}

// overdue has the leases of all but a journal's own come to their end.
func overdue(t *testing.T, j *Journal) {
	t.Helper()
	err := j.writer.do(func(c *conn) error {
		_, err := c.Exec("UPDATE process SET until = now() - interval '1 second' WHERE key <> ?", j.owner.Key)
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

// The server is started anew, or crashes and comes back, in the middle: runs wait
// and go on.
func TestServerAway(t *testing.T) {
	c := serverOnly(t)
	t.Run("stopped", func(t *testing.T) { serverAway(t, c, c.Halt) })
	t.Run("crashed", func(t *testing.T) { serverAway(t, c, c.Crash) })
}

// A server that lets go of who is idle has not gone away: whoever comes next is served.
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
				t.Errorf("who reads meanwhile is told %v", err)
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

// What others write is told, and what is heard of no more is looked for.
func TestNews(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	one, other := journalAt(t, where, Options{}), journalAt(t, where, Options{})
	told := make(chan bool, 100)
	defer other.Watch("run", func() { told <- true })()
	for !other.store.(*server).news.hears.Load() {
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
	<-told
	if after, err := other.Version(t.Context()); err != nil || after == before {
		t.Errorf("the version stays %d, %v", after, err)
	}
	other.store.(*server).news.hears.Store(false)
	before, _ = other.Version(t.Context())
	if err := r.End(engine.Result{Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
	if after, err := other.Version(t.Context()); err != nil || after == before {
		t.Errorf("the version stays %d where nothing is heard, %v", after, err)
	}
}

// What is not a journal's is refused in words, and nobody's password is in them.
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
	do("UPDATE " + schema + ".store SET capstan_version = 7")
	defer do("UPDATE " + schema + ".store SET capstan_version = 2")
	for address, want := range map[string]string{
		base + "&search_path=theirs": "tables that are not a journal's",
		newer:                        "written by a newer capstan (schema 7; this one knows 2)",
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

// NULs and what looks like an escape come back as they were.
func TestOddTexts(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for i, said := range []string{"a\x00b", "\U0010FFFF0", "\U0010FFFF1\x00", strings.Repeat("long \x00 text ", 100)} {
		id := fmt.Sprint("run", i)
		saidRun(t, j, id, said, engine.Result{Status: engine.Succeeded}, runner.Start{})
		if got := saidBy(t, j, id); got != said {
			t.Errorf("%q came back as %q", said, got)
		}
	}
	if _, err := j.Query(t.Context(), "SELECT * FROM calls", 0); err != nil {
		t.Error(err)
	}
}

// A pooler of sessions is as good as the server; one of transactions is refused in
// words, before a table is made in the wrong place.
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
	if there, err := j.writer.c.number("SELECT count(*) FROM pg_class WHERE relname = 'run' AND relnamespace = 'pooled'::regnamespace"); err != nil || there != 1 {
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

// A process that waits for another one to make the tables says so.
func TestSchemaHeld(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	other := journalAt(t, where, Options{})
	err := other.writer.do(func(c *conn) error {
		if err := c.Script("SELECT pg_advisory_xact_lock(" + fmt.Sprint(application) + ")"); err != nil {
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
