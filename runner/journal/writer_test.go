package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
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
		if err := c.script("BEGIN; SELECT * FROM run"); err != nil { // what comes now cannot be copied yet
			t.Fatal(err)
		}
		before := begun()
		j.writer.turn <- struct{}{}
		j.writer.back.ask()
		synctest.Wait() // it has copied what it could
		if err := c.script("ROLLBACK"); err != nil {
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
