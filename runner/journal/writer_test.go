package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// No branch can find and commit data while a piece of the same run is on its
// way to the writer, because that data would be stored before the piece.
func TestPiecesInOrder(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{noSync: true})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p"})
	j.db.Writer.Mu.Lock() // blocks the writer
	done := make(chan error, 1)
	go func() { done <- r.commit() }()
	for held := 0; held < 1000; runtime.Gosched() {
		held++
		if r.mu.TryLock() {
			held = 0
			if len(r.piece.rows) == 0 {
				t.Error("another piece could overtake this one")
				held = 1000
			}
			r.mu.Unlock()
		}
	}
	j.db.Writer.Mu.Unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// SQLite's log is restarted after its copy, even if a part could not be copied
// at first.
func TestLogBeginsAnew(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		j := journalAt(t, file, Options{noSync: true})
		j.db.Writer.Checkpointer.RestartPages = 1
		k := newTalker(begin(t, j, runner.Start{RunID: "run"}).Host(quick{sentence}), "run", sentence)
		begun := func() []byte { // identifies one log among successive ones
			k.take(t)
			raw, err := os.ReadFile(file + "-wal")
			if err != nil || len(raw) < 32 {
				t.Fatal(len(raw), err)
			}
			return raw[12:24]
		}
		c, err := j.db.Store.Reader()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Script("BEGIN; SELECT * FROM run"); err != nil { // the following writes cannot be copied yet
			t.Fatal(err)
		}
		before := begun()
		j.db.Writer.Turn <- struct{}{}
		j.db.Writer.Checkpointer.Request()
		synctest.Wait() // it has copied what it could
		if err := c.Script("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		<-j.db.Writer.Turn
		synctest.Wait()
		if bytes.Equal(before, begun()) {
			t.Error("the log goes on growing")
		}
		j.Close()
	})
}

// The start and the end of a run are on a server's disk when they are
// confirmed; other data may follow later.
func TestLasting(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	b := breaking(j)
	var r runner.Recording
	for step, do := range []func() error{
		func() (err error) { r, err = j.Begin(runner.Start{RunID: "run"}); return err },
		func() error { _, err := r.Host(quick{}).Model("p/model", model.Request{}); return err },
		func() error { return r.End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil) },
	} {
		b.next(0)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if lasts := slices.Contains(b.statements(), "SET LOCAL synchronous_commit = on"); lasts != (step != 1) {
			t.Errorf("step %d lasts: %v", step, lasts)
		}
	}
}

// Conflicts on a server are retried a limited number of times.
func TestTriedAgain(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for statement, want := range map[string]int{
		postgres.Unless("SELECT 1 WHERE false"):      2,
		"DO $$ BEGIN RAISE SQLSTATE '40001'; END $$": 6,
		"DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$": 6,
		"DO $$ BEGIN RAISE SQLSTATE '23505'; END $$": 1,
	} {
		tries := 0
		err := j.db.Writer.Do(func(c *stores.Conn) error { tries++; _, err := c.Exec(statement); return err })
		if err == nil || tries != want {
			t.Errorf("%s: %d tries, %v", statement, tries, err)
		}
	}
}
