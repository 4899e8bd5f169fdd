package journal

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/owners"
)

// A pair is two processes that have one store open: what the first cannot finish,
// the second goes on with.
type pair struct{ first, second *Journal }

func pairOf(t testing.TB) pair {
	t.Helper()
	file := filepath.Join(t.TempDir(), "j.db")
	return pair{journalAt(t, file, Options{}), journalAt(t, file, Options{})}
}

// pairs are lent to one test at a time: to open a store costs more than a short run
// does. They are closed with the test that they are of.
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

// gone has the process of a journal be gone, with what it had at hand of a run. The
// one that comes in its place has its connections, which cost more than a short run
// does, and knows nothing of what it knew.
func gone(t testing.TB, j *Journal, r runner.Recording) {
	t.Helper()
	if r != nil {
		r.(*recording).spoil(errClosed)
	}
	j.owed.forget()
	j.owner.Close()
	j.writer.turn <- struct{}{} // what is being written is
	clear(j.writer.known)
	<-j.writer.turn
	s, shared := unbroken(j.store).(*server)
	if !shared {
		j.owner = owners.New()
		return
	}
	err := s.telling(func(*conn) error { // nobody puts a lease off meanwhile, nor tells others by whom
		s.news.mu.Lock()
		defer s.news.mu.Unlock()
		j.owner = owners.New()
		return nil
	})
	if err = errors.Join(err, s.beat(j.writer)); err != nil {
		t.Fatal(err)
	}
}

// emptied takes all runs out of a store, with their texts.
func emptied(t testing.TB, j *Journal) {
	t.Helper()
	j.owed.forget()
	err := j.writer.do(func(c *conn) error {
		clear(j.writer.known)
		err := j.store.still(c)
		for _, table := range tables {
			err = errors.Join(err, c.send("DELETE FROM "+table))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tables are where runs are kept.
var tables = []string{"run", "start", "result", "pack", "text", "mark"}
