package stores

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
)

// notifications are messages between processes over a server: the names of runs
// with new rows. They are sent a few times per second at most, outside the
// writing transactions, because the server serializes transactions that notify.
type notifications struct {
	count     atomic.Int64 // number of changes seen
	Listening atomic.Bool  // notifications are received; otherwise the journal must poll
	Mu        sync.Mutex
	runs      map[string]bool // runs to announce
}

const (
	channel         = "capstan"
	notifyDelay     = 20 * time.Millisecond
	maxNotification = 7000 // bytes; the limit of PostgreSQL is 8000
	allRuns         = "*"
)

// Announce schedules a notification for a run.
func (s *Postgres) Announce(run string) {
	n := &s.Notifications
	n.count.Add(1)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.runs == nil {
		n.runs = map[string]bool{}
		time.AfterFunc(notifyDelay, s.sendNotification)
	}
	n.runs[run] = true
}

func (s *Postgres) sendNotification() {
	n := &s.Notifications
	n.Mu.Lock()
	payload := s.db.Owner.Key
	for run := range n.runs {
		if payload += "\n" + run; len(payload) > maxNotification {
			payload = s.db.Owner.Key + "\n" + allRuns
			break
		}
	}
	n.runs = nil
	n.Mu.Unlock()
	if s.db.Closed.Load() {
		return
	}
	_ = s.WithLeaseConn(func(c *Conn) error { // processes that miss it poll from time to time
		_, err := c.Exec("SELECT pg_notify(?, ?)", s.channel(), payload)
		return err
	})
}

// channel returns the channel of the journal's schema.
func (s *Postgres) channel() string { return channel + "_" + s.At.Schema() }

// Subscribe starts receiving notifications. It needs a connection, so a process
// that only runs cascades does not subscribe.
func (s *Postgres) Subscribe() {
	s.subscribed.Do(func() { s.children.Go(func() { s.listen(s.life) }) })
}

// listen receives notifications until ctx ends.
func (s *Postgres) listen(ctx context.Context) {
	for ctx.Err() == nil {
		_ = postgres.Listen(ctx, s.At, s.channel(), func() { s.Notifications.Listening.Store(true); s.Notifications.count.Add(1) }, s.receive)
		s.Notifications.Listening.Store(false)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (s *Postgres) receive(payload string) {
	from, runs, _ := strings.Cut(payload, "\n")
	if from == s.db.Owner.Key {
		return
	}
	s.Notifications.count.Add(1)
	for run := range strings.SplitSeq(runs, "\n") {
		if run == allRuns {
			s.db.Options.Changed("")
			continue
		}
		s.db.Options.Changed(run)
	}
}

// Changes returns the number of notifications. Without a subscription it
// returns a hash of the server's current snapshot.
func (s *Postgres) Changes(c *Conn) (int64, error) {
	s.Subscribe()
	if s.Notifications.Listening.Load() {
		return s.Notifications.count.Load(), nil
	}
	return c.Number("SELECT hashtextextended(pg_current_snapshot()::text, 0)")
}
