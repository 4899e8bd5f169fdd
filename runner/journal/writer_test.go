package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/postgres"
	"github.com/seed61713e19/capstan/runner/model"
)

// Nothing can be found and committed by another branch of a run while a piece
// is on its way to the writer: it would be there before the piece is.
func TestPiecesInOrder(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{careless: true})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p"})
	j.writer.mu.Lock() // nothing comes to the writer
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
	j.writer.mu.Unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// SQLite's log begins anew when it was copied to the file, also where some of it
// could not be at first.
func TestLogBeginsAnew(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		j := journalAt(t, file, Options{careless: true})
		j.writer.back.most = 1
		k := newTalker(begin(t, j, runner.Start{RunID: "run"}).Host(quick{sentence}), "run", sentence)
		begun := func() []byte { // what tells one such log from the one before
			k.take(t)
			raw, err := os.ReadFile(file + "-wal")
			if err != nil || len(raw) < 32 {
				t.Fatal(len(raw), err)
			}
			return raw[12:24]
		}
		c, err := j.store.reader()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Script("BEGIN; SELECT * FROM run"); err != nil { // what comes now cannot be copied yet
			t.Fatal(err)
		}
		before := begun()
		j.writer.turn <- struct{}{}
		j.writer.back.ask()
		synctest.Wait() // it has copied what it could
		if err := c.Script("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		<-j.writer.turn
		synctest.Wait()
		if bytes.Equal(before, begun()) {
			t.Error("the log goes on growing")
		}
		j.Close()
	})
}

// That a run is there and how it ended is on a server's disk when it is said; what it
// does between may be a moment later.
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
		if lasts := slices.Contains(b.said(), "SET LOCAL synchronous_commit = on"); lasts != (step != 1) {
			t.Errorf("step %d lasts: %v", step, lasts)
		}
	}
}

// What a server refuses because somebody was in the way is tried again, so often and
// no more.
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
		err := j.writer.do(func(c *conn) error { tries++; _, err := c.Exec(statement); return err })
		if err == nil || tries != want {
			t.Errorf("%s: %d tries, %v", statement, tries, err)
		}
	}
}
