package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed61713e19/capstan/internal/postgrestest"

	"github.com/seed61713e19/capstan/cascades/examples"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "capstan" {
		main()
	}
	testscript.Main(stopping{m}, map[string]func(){"session": serveSession})
}

// stopping stops the shared database server after the tests.
type stopping struct{ *testing.M }

func (s stopping) Run() int {
	defer func() { stopPostgres() }()
	collectSeldom(os.Getenv)
	// The folder is next to the program of the sessions, and testscript removes
	// it. If testscript put capstan there, each script line would start a
	// process.
	session, err := exec.LookPath("session")
	if err == nil {
		err = os.Link(session, filepath.Join(filepath.Dir(session), "capstan"+filepath.Ext(session)))
	}
	if err != nil {
		panic(err)
	}
	return s.M.Run()
}

// cluster is one PostgreSQL server for all tests. Each test has its own
// databases there. A server needs a second of CPU time before it answers.
var cluster = sync.OnceValues(func() (*postgrestest.Cluster, error) {
	c, err := postgrestest.Start()
	if err == nil {
		stopPostgres = c.Stop
	}
	return c, err
})

var (
	stopPostgres = func() {}
	databases    atomic.Int32
)

// newDatabase creates a database there and returns its address.
func newDatabase() (address string, err error) {
	c, err := cluster()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("test%d", databases.Add(1))
	return c.Address(name), c.Do("postgres", "CREATE DATABASE "+name)
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs in other processes what is run in process elsewhere")
	}
	idle := &sessions{}
	t.Cleanup(idle.close)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"capstan": inSession, "given": readsNext, "status": wantStatus, "steps": steps, "hook": hook, "unpack": unpackExamples, "postgres": onPostgres, "database": makeDatabase, "endpoint": serveEndpoint, "protocols": serveProtocols},
		Condition:     func(name string) (bool, error) { return name == "postgres" && postgrestest.Installed(), nil },
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			env.Setenv("CI", "")
			env.Setenv("ROOT", root)
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			name, _ := strings.CutPrefix(filepath.Base(env.WorkDir), "script-")
			return newSession(env, filepath.Join("testdata/script", name+".txtar"), idle)
		},
	})
}

// unpackExamples copies the shipped cascades to the script's folder examples.
func unpackExamples(ts *testscript.TestScript, _ bool, _ []string) {
	if err := unpack(ts.MkAbs("examples")); err != nil {
		ts.Fatalf("%v", err)
	}
}

// onPostgres creates a database for the script and sets $POSTGRES to its
// address.
func onPostgres(ts *testscript.TestScript, _ bool, _ []string) {
	address, err := newDatabase()
	if err != nil {
		ts.Fatalf("%v", err)
	}
	ts.Setenv("POSTGRES", address)
}

// makeDatabase creates a SQLite file from the statements of another file.
func makeDatabase(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: database FILE STATEMENTS")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0]))
	if err == nil {
		_, err = db.Exec(ts.ReadFile(args[1]))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		ts.Fatalf("%v", err)
	}
}

// unpack copies the shipped cascades to a folder.
func unpack(dir string) error {
	return os.CopyFS(dir, examples.Files)
}

// onWrite is a writer that calls a function for each write.
type onWrite func(p []byte)

func (f onWrite) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// TestInterrupt checks that an interrupted run ends cleanly and that its result
// reports the interrupt.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"slow.yaml":          "cascade_id: slow\nphases: [{name: think, instructions: think}]",
		"slow.scripted.yaml": "- {phase: think, reply: done, delay: 1h}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	var out, stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Getenv: func(string) string { return "" }}
	c.Stderr = onWrite(func(p []byte) {
		stderr.Write(p)
		if bytes.Contains(p, []byte("think")) {
			interrupt()
		}
	})
	if got := c.Run(ctx, []string{"run", filepath.Join(dir, "slow.yaml"), "--model", "scripted", "--json"}); got != exitInterrupted {
		t.Errorf("status %d: %s", got, stderr.String())
	}
	if !strings.Contains(out.String(), `"status": "cancelled"`) {
		t.Errorf("got %s", out.String())
	}
}

// TestNothingToWriteTo checks that every verb fails if its output cannot be
// written. The status must not blame the caller. It tests with and without
// redaction.
func TestNothingToWriteTo(t *testing.T) {
	errFull := errors.New("the disk is full")
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"bad.yaml":           "cascade_id: a\n",
		"good.yaml":          "cascade_id: good\nphases: [{name: think, instructions: think}]",
		"good.scripted.yaml": "- {phase: think, reply: done}",
		"old.json":           `{"cascade_id": "old", "phases": [{"name": "a", "instructions": "x"}]}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := []string{"run", "good.yaml", "--model", "scripted", "--store", "runs.db", "-q"}
	if got := (&Command{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}).Run(t.Context(), run); got != exitOK {
		t.Fatal(got)
	}
	for _, line := range []string{
		"", "help run", "version", "completion bash", "doctor", "doctor --json", "list tools", "list validators", "list validators non_empty", "schema", "lint bad.yaml", "convert old.json",
		"inspect good.yaml", "graph good.yaml", "script good.yaml", "gate non_empty bad.yaml", "gate word_count --with min=300 bad.yaml", strings.Join(run, " "),
		"runs --store runs.db", "show last --store runs.db", "show last --store runs.db --json", "events last --store runs.db", "graph last --store runs.db", "runs prune --older 1d --store runs.db",
		"measure cost good.yaml --store runs.db", "measure stats good.yaml --store runs.db", "measure backtest good.yaml --store runs.db",
	} {
		for _, secret := range []string{"", "SOME_API_KEY=a-long-secret"} {
			var stderr bytes.Buffer
			c := &Command{Stdin: strings.NewReader(""), Stdout: failing{errFull}, Stderr: &stderr, Getenv: func(string) string { return "" }, Environ: []string{secret}}
			if got := c.Run(t.Context(), strings.Fields(line)); got != exitBroken || strings.Count(stderr.String(), "the disk is full") != 1 {
				t.Errorf("%s: status %d: %s", line, got, stderr.String())
			}
		}
	}
}

// failing is a writer that always returns its error.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestInterruptedReading checks that an interrupt ends a command that waits for
// standard input.
func TestInterruptedReading(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"note.yaml":          "cascade_id: note\nphases: [{name: think, instructions: think}]",
		"note.scripted.yaml": "- {reply: done}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range [][]string{
		{"gate", "word_count", "--with", "min=1", "-"},
		{"run", filepath.Join(dir, "note.yaml"), "--model", "scripted", "--input-file", "-"},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		in, to := io.Pipe()
		go func() {
			_, _ = io.WriteString(to, "{") // the command is reading now
			interrupt()
		}()
		c := &Command{Stdin: in, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
		if got := c.Run(ctx, line); got != exitInterrupted {
			t.Errorf("%v ended with %d", line, got)
		}
		to.Close()
	}
}
