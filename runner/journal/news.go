package journal

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/postgres"
)

// news is what processes tell each other over a server: the names of runs of
// which there is more. It is told apart from what is written, some times a second
// at most, since the server lets one transaction at a time tell something.
type news struct {
	heard atomic.Int64 // how often there was something new
	hears atomic.Bool  // what others tell; otherwise one has to look
	mu    sync.Mutex
	of    map[string]bool // runs that others are to be told of
}

const (
	channel  = "capstan"
	newsWait = 20 * time.Millisecond
	newsMost = 7000 // bytes: a notification may have 8000
	allRuns  = "*"
)

// told notes a run that others are to be told of in a moment.
func (s *server) told(run string) {
	n := &s.news
	n.heard.Add(1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]bool{}
		time.AfterFunc(newsWait, s.tell)
	}
	n.of[run] = true
}

func (s *server) tell() {
	n := &s.news
	n.mu.Lock()
	said := s.j.owner.Key
	for run := range n.of {
		if said += "\n" + run; len(said) > newsMost {
			said = s.j.owner.Key + "\n" + allRuns
			break
		}
	}
	n.of = nil
	n.mu.Unlock()
	if s.j.closed.Load() {
		return
	}
	_ = s.telling(func(c *conn) error { // who did not hear it looks from time to time
		_, err := c.Exec("SELECT pg_notify(?, ?)", s.channel(), said)
		return err
	})
}

// channel is that of the journal's schema.
func (s *server) channel() string { return channel + "_" + s.at.Schema() }

// attend has what others tell heard. It costs a connection, which who only runs
// something does not need.
func (s *server) attend() {
	s.attends.Do(func() { s.children.Go(func() { s.listen(s.life) }) })
}

// listen hears what others tell until ctx ends.
func (s *server) listen(ctx context.Context) {
	for ctx.Err() == nil {
		_ = postgres.Listen(ctx, s.at, s.channel(), func() { s.news.hears.Store(true); s.news.heard.Add(1) }, s.hear)
		s.news.hears.Store(false)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (s *server) hear(said string) {
	from, runs, _ := strings.Cut(said, "\n")
	if from == s.j.owner.Key {
		return
	}
	s.news.heard.Add(1)
	for run := range strings.SplitSeq(runs, "\n") {
		if run == allRuns {
			s.j.watchers.all()
			continue
		}
		s.j.watchers.tell(run)
	}
}

// changes counts what was told; where nothing is heard it is the server's own
// number of what was written last, by anybody.
func (s *server) changes(c *conn) (int64, error) {
	s.attend()
	if s.news.hears.Load() {
		return s.news.heard.Load(), nil
	}
	return c.number("SELECT hashtextextended(pg_current_snapshot()::text, 0)")
}
