package journal

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner/journal/owners"
)

// A process that has the journal of a server open has a lease: a time, by the
// server's clock, until which it is known to live. It puts it off three times in
// each; from then on whoever wants may go on with its runs. Whoever does takes
// the lease away first. So a process that slept hears, before it puts its lease
// off, that it is counted as gone, and each of its runs looks whether it has its
// epoch still. As long as its lease stands by its own clock, which it reads before
// it asks the server, nobody can have taken a run of it. Of two processes, where A
// sleeps over the end of its lease:
//
//	A: lease until 12:00:30                     beat: no lease to put off, a new era
//	B:                        12:00:31 takes    and run 7, which A finds with B's
//	                          A's lease away    epoch before it writes or spends
//
// A server that is away has the leases of all end. So whoever finds that his own has
// ended counts nobody as gone until he has had it again for its whole length: by then
// those who live have put theirs off.
type lease struct {
	length time.Duration
	judges atomic.Int64 // from when on, by the writer's clock, it may be told who is gone
	mu     sync.Mutex
	c      *conn // tells the server that this process lives, and others what it wrote
	over   bool  // the journal is closed: what comes late tells nobody
}

const (
	beatAgain = "UPDATE process SET until = clock_timestamp() + ? * interval '1 microsecond' WHERE key = ? AND until > clock_timestamp()"
	beatFirst = `INSERT INTO process (key, until) VALUES (?, clock_timestamp() + ? * interval '1 microsecond')
		ON CONFLICT (key) DO UPDATE SET until = excluded.until`
	serverNow = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
)

// live puts the lease off until ctx ends.
func (s *server) live(ctx context.Context, w *writer) {
	beats := time.Tick(s.pulse.length / 3)
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats:
			_ = s.beat(w) // the next one may go through
		}
	}
}

// beat puts the lease off, and reads the server's clock.
func (s *server) beat(w *writer) error {
	return s.telling(func(c *conn) error {
		at, micros := w.clock(), float64(s.pulse.length.Microseconds()) // at is no later than the server's own now
		stands, err := c.Exec(beatAgain, micros, s.j.owner.Key)
		if err == nil && stands == 0 {
			_, err = c.Exec(beatFirst, s.j.owner.Key, micros)
			if w.endEra(); w.alone.Load() != 0 { // it has had one before
				s.pulse.judges.Store(at + int64(s.pulse.length))
			}
		}
		if err != nil {
			return err
		}
		w.alone.Store(at)
		began := s.j.options.Now()
		now, err := c.number(serverNow)
		if err == nil && s.corrects {
			s.j.ahead.Store(int64(ahead(time.UnixMicro(now).Sub(began))))
		}
		return err
	})
}

// ahead is how far a clock is taken to be ahead of another: what clocks that are
// kept by the network differ by is nothing.
func ahead(d time.Duration) time.Duration {
	if d.Abs() < time.Second {
		return 0
	}
	return d
}

// telling runs body with the connection that is kept for what is small and
// frequent.
func (s *server) telling(body func(*conn) error) (err error) {
	l := &s.pulse
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return errClosed
	}
	if l.c == nil {
		if l.c, err = s.dial(context.Background()); err != nil {
			return err
		}
	}
	if err = body(l.c); s.broken(err) {
		_ = l.c.Close()
		l.c = nil
	}
	return err
}

// leave ends the lease of a journal that is closed.
func (s *server) leave() {
	l := &s.pulse
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.c == nil {
		return
	}
	// Where the server cannot be told, it ends by itself.
	_, _ = l.c.Exec("DELETE FROM process WHERE key = ? OR until < clock_timestamp() - interval '1 day'", s.j.owner.Key)
	_ = l.c.Close()
}

// bury takes the lease away from an owner that is gone, so that it cannot put it
// off while its run is taken. That is on the server's disk before anybody goes on
// with the run.
func (s *server) bury(c *conn, text string) (bool, error) {
	other := owners.Read(text)
	if other.Open() {
		return false, nil
	}
	if err := s.j.lasting(c); err != nil {
		return false, err
	}
	seen := ""
	if _, alive := s.j.owner.Alive(text, func(owners.Owner) bool { return true }); alive {
		seen = " AND until <= clock_timestamp()" // it may be at work, for all one can see
	}
	if _, err := c.Exec("DELETE FROM process WHERE key = ?"+seen, other.Key); err != nil {
		return false, err
	}
	left, err := c.number("SELECT count(*) FROM process WHERE key = ?", other.Key)
	return left == 0, err
}

// judges tells whether it can be known here who is gone. A journal that is open for
// reading has no lease of its own that could have ended.
func (s *server) judges() bool {
	w := s.j.writer
	if w == nil {
		return true
	}
	now := w.clock()
	return now-w.alone.Load() < int64(s.pulse.length) && now >= s.pulse.judges.Load()
}

// alive counts those as alive whose lease stands, which the statement that gave
// the owner has seen to: see [dialect].
func (s *server) alive(owners.Owner) bool { return true }

// leased tells whether the lease of an owner stands. Of a server that does not
// answer it is taken to: to wait for a run harms nobody, to take one may.
func (s *server) leased(o owners.Owner) (stands bool) {
	err := s.telling(func(c *conn) error {
		n, err := c.number("SELECT count(*) FROM process WHERE key = ? AND until > clock_timestamp()", o.Key)
		stands = n > 0
		return err
	})
	return stands || err != nil
}
