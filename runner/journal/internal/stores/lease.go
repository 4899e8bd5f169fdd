package stores

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
)

// A lease is the time, by the server's clock, at which a process stops counting as
// alive. Each process with an open journal of a server renews its lease three times per
// duration. After the end of a lease, other processes may take over the runs. They
// delete the lease first. So a process that slept notices at its next renewal that it
// counts as gone, and all its runs check their epoch again. While its lease is valid by
// its own clock, read before the request to the server, its runs are safe. Example of a
// process A that sleeps past the end of its lease:
//
//	A: lease until 12:00:30                     renew: no lease, so a new era
//	B:                        12:00:31 deletes  and run 7: A finds B's epoch
//	                          A's lease         before it writes or spends
//
// If the server is unavailable, all leases end. A process whose own lease has
// ended therefore takes over no runs for one full duration. By then, living
// processes have renewed theirs.
type lease struct {
	duration   time.Duration
	JudgesFrom atomic.Int64 // time by the writer's clock from which it may decide which processes are gone
	mu         sync.Mutex
	c          *Conn // connection for renewals and notifications
	closed     bool  // the journal is closed
}

const (
	renewLease  = "UPDATE process SET until = clock_timestamp() + ? * interval '1 microsecond' WHERE key = ? AND until > clock_timestamp()"
	insertLease = `INSERT INTO process (key, until) VALUES (?, clock_timestamp() + ? * interval '1 microsecond')
		ON CONFLICT (key) DO UPDATE SET until = excluded.until`
	serverNow = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
)

// keepAlive renews the lease until ctx ends.
func (s *Postgres) keepAlive(ctx context.Context, w *writer) {
	beats := time.Tick(s.Lease.duration / 3)
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats:
			_ = s.Renew(w) // the next renewal may succeed
		}
	}
}

// Renew renews the lease and reads the server's clock.
func (s *Postgres) Renew(w *writer) error {
	return s.WithLeaseConn(func(c *Conn) error {
		at, micros := w.Clock(), float64(s.Lease.duration.Microseconds()) // read before the server's time
		stands, err := c.Exec(renewLease, micros, s.db.Owner.Key)
		if err == nil && stands == 0 {
			_, err = c.Exec(insertLease, s.db.Owner.Key, micros)
			if w.EndEra(); w.EraSeen.Load() != 0 { // it has had a lease before
				s.Lease.JudgesFrom.Store(at + int64(s.Lease.duration))
			}
		}
		if err != nil {
			return err
		}
		w.EraSeen.Store(at)
		began := s.db.Options.Now()
		now, err := c.Number(serverNow)
		if err == nil && s.CorrectsClock {
			s.db.ClockOffset.Store(int64(Significant(time.UnixMicro(now).Sub(began))))
		}
		return err
	})
}

// Significant returns a difference between two clocks, or 0 if it is under a
// second, which is normal for clocks synchronized over the network.
func Significant(d time.Duration) time.Duration {
	if d.Abs() < time.Second {
		return 0
	}
	return d
}

// WithLeaseConn runs body with the connection for small, frequent statements.
func (s *Postgres) WithLeaseConn(body func(*Conn) error) (err error) {
	l := &s.Lease
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if l.c == nil {
		if l.c, err = s.dial(context.Background()); err != nil {
			return err
		}
	}
	if err = body(l.c); s.Broken(err) {
		_ = l.c.Close()
		l.c = nil
	}
	return err
}

// releaseLease ends the lease of a closed journal.
func (s *Postgres) releaseLease() {
	l := &s.Lease
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.c == nil {
		return
	}
	// If the server is unavailable, the lease ends by itself.
	_, _ = l.c.Exec("DELETE FROM process WHERE key = ? OR until < clock_timestamp() - interval '1 day'", s.db.Owner.Key)
	_ = l.c.Close()
}

// Bury deletes the lease of an owner that is gone. The owner then cannot renew it
// during the takeover of its run. The deletion is on the server's disk before the run
// is resumed.
func (s *Postgres) Bury(c *Conn, text string) (bool, error) {
	other := owners.Read(text)
	if other.Open() {
		return false, nil
	}
	if err := s.db.Sync(c); err != nil {
		return false, err
	}
	seen := ""
	if _, alive := s.db.Owner.Alive(text, func(owners.Owner) bool { return true }); alive {
		seen = " AND until <= clock_timestamp()" // it may still be running
	}
	if _, err := c.Exec("DELETE FROM process WHERE key = ?"+seen, other.Key); err != nil {
		return false, err
	}
	left, err := c.Number("SELECT count(*) FROM process WHERE key = ?", other.Key)
	return left == 0, err
}

// Judges reports whether this process can decide which other processes are gone. A read-only
// journal has no lease, so it always can.
func (s *Postgres) Judges() bool {
	w := s.db.Writer
	if w == nil {
		return true
	}
	now := w.Clock()
	return now-w.EraSeen.Load() < int64(s.Lease.duration) && now >= s.Lease.JudgesFrom.Load()
}

// Alive always returns true, because the statement that returned the owner has
// checked its lease, see [Dialect].
func (s *Postgres) Alive(owners.Owner) bool { return true }

// Leased reports whether the lease of an owner is valid. It returns true if the server does not
// answer. Waiting for a run is harmless, but a wrong takeover is not.
func (s *Postgres) Leased(o owners.Owner) (stands bool) {
	err := s.WithLeaseConn(func(c *Conn) error {
		n, err := c.Number("SELECT count(*) FROM process WHERE key = ? AND until > clock_timestamp()", o.Key)
		stands = n > 0
		return err
	})
	return stands || err != nil
}
