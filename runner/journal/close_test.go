package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// beside returns the length of SQLite's log for a file, or -1 if there is none.
func beside(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file + "-wal")
	if os.IsNotExist(err) {
		return -1
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// busy returns a journal after some writes and reads.
func busy(t *testing.T, file string) *Journal {
	t.Helper()
	j := journalAt(t, file, Options{})
	fill(t, j, 3, 20)
	if _, err := j.Runs(t.Context(), Filter{}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if beside(t, file) <= 0 {
		t.Fatal("nothing was written to the log")
	}
	return j
}

// No file stays beside a closed one, whatever was read.
func TestCloseLeavesNoLog(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	if err := busy(t, file).Close(); err != nil {
		t.Fatal(err)
	}
	if n := beside(t, file); n >= 0 {
		t.Errorf("a log of %d bytes stays", n)
	}
}

// Another reading process keeps the log's file, which is then empty.
func TestCloseBesideAReader(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j := busy(t, file)
	only := journalAt(t, file, Options{ReadOnly: true})
	defer only.Close()
	if _, err := only.Runs(t.Context(), Filter{}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if n := beside(t, file); n > 0 {
		t.Errorf("a log of %d bytes stays", n)
	}
	if list, err := only.Runs(t.Context(), Filter{}); err != nil || len(list) != 3 {
		t.Errorf("got %d runs, %v", len(list), err)
	}
}

// Close does not wait long for another reading process, and no data is lost.
func TestCloseWhileAnotherReads(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	only := journalAt(t, file, Options{})
	j := busy(t, file)
	c, err := only.db.Store.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Script("BEGIN; SELECT * FROM run"); err != nil {
		t.Fatal(err)
	}
	begin(t, j, runner.Start{RunID: "late"})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := only.Runs(t.Context(), Filter{}); err != nil || len(list) != 4 {
		t.Errorf("got %d runs, %v", len(list), err)
	}
}

// Close writes all queued jobs, and later jobs return an error.
func TestCloseWritesTheRest(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	done := make(chan error, 1)
	j.db.Writer.Add(func(*stores.Conn) error { return nil }, func(err error) { done <- err })
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	default:
		t.Error("it is not written")
	}
	if _, err := j.Begin(runner.Start{RunID: "late"}); !errors.Is(err, stores.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// Close waits for readers, and later readers get an error.
func TestCloseWaitsForReaders(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		j := journalAt(t, file, Options{noSync: true})
		begin(t, j, runner.Start{RunID: "run"})
		c, err := j.db.Reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan error, 1)
		go func() { closed <- j.Close() }()
		synctest.Wait()
		late := make(chan error, 1)
		go func() { _, err := j.Runs(t.Context(), Filter{}); late <- err }()
		time.Sleep(j.db.Options.Patience / 2)
		select {
		case <-closed:
			t.Fatal("it did not wait")
		default:
		}
		j.db.Release(c, nil)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if err := <-late; err == nil {
			t.Error("it was read after it was closed")
		}
	})
	if n := beside(t, file); n >= 0 {
		t.Errorf("a log of %d bytes stays", n)
	}
}
