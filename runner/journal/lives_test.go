package journal

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A pair is two processes with the same store. The second resumes the unfinished runs
// of the first.
type pair struct{ first, second *Journal }

func pairOf(t testing.TB) pair {
	t.Helper()
	file := filepath.Join(t.TempDir(), "j.db")
	return pair{journalAt(t, file, Options{}), journalAt(t, file, Options{})}
}

// pairs are reused by one test at a time, because opening a store costs more
// than a short run. They are closed with their test.
type pairs struct {
	of   testing.TB
	mu   sync.Mutex
	free []pair
}

func (l *pairs) lent(t testing.TB) pair {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var p pair
	if n := len(l.free); n > 0 {
		p, l.free = l.free[n-1], l.free[:n-1]
	} else {
		p = pairOf(l.of)
	}
	t.Cleanup(func() { l.back(t, p) })
	return p
}

func (l *pairs) back(t testing.TB, p pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.Failed() {
		l.free = append(l.free, p)
	}
}

// loseProcess simulates the end of a journal's process, which loses its buffered data.
// A new journal takes over its connections, which are expensive, but none of
// its state.
func loseProcess(t testing.TB, j *Journal, r runner.Recording) {
	t.Helper()
	if r != nil {
		r.(*recording).fail(stores.ErrClosed)
	}
	j.retries.stop()
	j.db.Owner.Close()
	j.db.Writer.Turn <- struct{}{} // current writes are finished
	clear(j.db.Writer.Known)
	<-j.db.Writer.Turn
	s, shared := unbroken(j.db.Store).(*stores.Postgres)
	if !shared {
		j.db.Owner = owners.New()
		return
	}
	err := s.WithLeaseConn(func(*stores.Conn) error { // nobody renews a lease or notifies others in the meantime
		s.Notifications.Mu.Lock()
		defer s.Notifications.Mu.Unlock()
		j.db.Owner = owners.New()
		return nil
	})
	if err = errors.Join(err, s.Renew(j.db.Writer)); err != nil {
		t.Fatal(err)
	}
}

// emptied removes all runs and texts from a store.
func emptied(t testing.TB, j *Journal) {
	t.Helper()
	j.retries.stop()
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		clear(j.db.Writer.Known)
		err := j.db.Store.Still(c)
		for _, table := range tables {
			err = errors.Join(err, c.Queue("DELETE FROM "+table))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tables are the tables of runs.
var tables = []string{"run", "start", "result", "pack", "text", "mark"}
