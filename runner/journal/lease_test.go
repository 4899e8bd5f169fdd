package journal

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A process whose connection breaks reconnects and counts as alive until then.
// A closed one sends nothing more and leaves nothing behind.
func TestLease(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	j, other := journalAt(t, where, Options{}), journalAt(t, where, Options{})
	s, seen := j.db.Store.(*stores.Postgres), other.db.Store.(*stores.Postgres)
	leases := func() (n int64) {
		err := seen.WithLeaseConn(func(c *stores.Conn) (err error) {
			n, err = c.Number("SELECT count(*) FROM process WHERE until > clock_timestamp()")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	teller := func() (pid int64) {
		err := s.WithLeaseConn(func(c *stores.Conn) (err error) { pid, err = c.Number("SELECT pg_backend_pid()::bigint"); return err })
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	cut := func() {
		if _, err := other.db.Writer.C.Number("SELECT pg_terminate_backend(?::int)::int::bigint", teller()); err != nil {
			t.Fatal(err)
		}
	}
	if first := teller(); first != teller() {
		t.Error("it dials each time")
	}
	cut()
	if !s.Leased(j.db.Owner) {
		t.Error("of whom nothing is heard counts as gone")
	}
	if !s.Leased(j.db.Owner) || !s.Leased(other.db.Owner) || s.Leased(owners.Owner{Key: "nobody"}) {
		t.Error("owners with and without a lease are not distinguished")
	}
	if n := leases(); n != 2 {
		t.Errorf("%d leases are valid", n)
	}
	reported := teller()
	if err := j.Close(); err != nil || leases() != 1 {
		t.Errorf("closed with %v: %d leases are valid", err, leases())
	}
	for began, there := time.Now(), int64(1); there > 0; {
		if there, _ = other.db.Writer.C.Number("SELECT count(*) FROM pg_stat_activity WHERE pid = ?::int", reported); time.Since(began) > 10*time.Second {
			t.Fatal("a connection is left behind")
		}
	}
	for _, noticed := range []bool{false, true} {
		j = journalAt(t, where, Options{})
		s = j.db.Store.(*stores.Postgres)
		cut()
		if noticed {
			s.Leased(j.db.Owner)
		}
		if err := j.Close(); err != nil {
			t.Errorf("the server could not be told that the journal is closed: %v", err)
		}
	}
	for range 2 {
		if err := s.WithLeaseConn(func(*stores.Conn) error { return nil }); !errors.Is(err, stores.ErrClosed) {
			t.Errorf("a closed journal tells something: %v", err)
		}
	}
}

// Whichever statement of a renewal fails, the lease does not count as renewed.
func TestBeatFails(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	s, b := j.db.Store.(*stores.Postgres), &breaker{}
	if err := s.WithLeaseConn(func(c *stores.Conn) error { c.Link = &fragile{c.Link, b}; return nil }); err != nil {
		t.Fatal(err)
	}
	for k, asks := 1, 2; k <= asks+1; k++ { // the last statement reads the time
		err := j.db.Writer.Do(func(c *stores.Conn) error { return c.Queue("DELETE FROM process") })
		if err != nil {
			t.Fatal(err)
		}
		b.next(k)
		before := j.db.Writer.EraSeen.Load()
		if err := s.Renew(j.db.Writer); !errors.Is(err, errStatement) {
			t.Errorf("statement %d, %s: got %v", k, b.broke(), err)
		}
		if k <= asks && j.db.Writer.EraSeen.Load() != before {
			t.Errorf("%s: it failed, and the lease counts", b.broke())
		}
	}
}

// A lease is renewed three times per duration.
func TestLeaseIsPutOff(t *testing.T) {
	serverOnly(t)
	t.Parallel()
	began := time.Now()
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Lease: time.Second})
	until := func() (n int64) {
		err := j.db.Store.(*stores.Postgres).WithLeaseConn(func(c *stores.Conn) (err error) {
			n, err = c.Number("SELECT (extract(epoch FROM until) * 1000000)::bigint FROM process WHERE key = ? AND until > clock_timestamp()", j.db.Owner.Key)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := until()
	for range time.Tick(20 * time.Millisecond) {
		if until() != first {
			break
		}
	}
	if after := time.Since(began); after < time.Second/3 {
		t.Errorf("it is put off after %v", after)
	}
}

// An outage of the server ends all leases. Nobody takes over runs before living
// processes have had time to renew; afterwards, silent ones count as gone.
func TestLeasesEndTogether(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	lives, looks := journalAt(t, where, Options{Lease: time.Minute}), journalAt(t, where, Options{Lease: time.Minute})
	begin(t, lives, runner.Start{RunID: "run"})
	w, s := looks.db.Writer, looks.db.Store.(*stores.Postgres)
	back := func() { w.EraSeen.Store(w.Clock() - int64(time.Minute)) }
	for _, step := range []struct {
		what string
		do   func()
		lost int
	}{
		{"its own lease may have ended", func() { overdue(t, looks); back() }, 0},
		{"it had ended", func() {
			overdue(t, lives)
			overdue(t, looks)
			if err := s.Renew(w); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"the other has not said that it lives", func() { s.Lease.JudgesFrom.Store(w.Clock()) }, 1},
		{"the other lives", func() { _ = lives.db.Store.(*stores.Postgres).Renew(lives.db.Writer) }, 0},
		{"its own lease stood on", func() { overdue(t, looks); back(); _ = s.Renew(w) }, 1},
	} {
		step.do()
		if lost, err := looks.Abandoned(t.Context()); err != nil || len(lost) != step.lost {
			t.Errorf("%s: got %v, %v, want %d", step.what, lost, err, step.lost)
		}
	}
}

// A run that is taken between the check of its epoch and the commit is not
// written.
func TestTakenMeanwhile(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	taken := false
	j.db.Writer.Before = func() error {
		if !taken {
			elsewhereNow(j, "run")
		}
		taken = true
		return nil
	}
	if err := r.commit(); !taken || !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("taken %v, got %v", taken, err)
	}
	j.db.Writer.Before = nil
}

// The lease of a process that is known to be gone can always be deleted. For an unknown
// process it can be deleted after its end, and a process never deletes its own.
func TestBury(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	j, far, here := journalAt(t, where, Options{}), journalAt(t, where, Options{}), journalAt(t, where, Options{})
	unseen := far.db.Owner
	unseen.Place = owners.Place{Host: "far", Boot: "b", Space: "s"}
	buried := func(o owners.Owner) (deleted bool) {
		err := j.db.Writer.Do(func(c *stores.Conn) (err error) { deleted, err = j.db.Store.Bury(c, o.Text()); return err })
		if err != nil {
			t.Fatal(err)
		}
		return deleted
	}
	overdue(t, j)
	if buried(here.db.Owner) || buried(j.db.Owner) {
		t.Error("the lease of a journal that is open here is taken away")
	}
	for _, one := range []*Journal{far, here} {
		if err := one.db.Store.(*stores.Postgres).Renew(one.db.Writer); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []owners.Owner{far.db.Owner, here.db.Owner} {
		o.Close()
	}
	if buried(unseen) {
		t.Error("a valid lease is taken from a process that may be running")
	}
	b := breaking(j)
	for k, broke := 1, true; broke; k++ { // whichever statement fails
		b.next(k)
		err := j.db.Writer.Do(func(c *stores.Conn) error { _, err := b.Store.Bury(c, unseen.Text()); return err })
		if broke = b.broke() != ""; broke != errors.Is(err, errStatement) {
			t.Errorf("statement %d, %s: got %v", k, b.broke(), err)
		}
	}
	j.db.Store = b.Store
	b.next(0)
	if !buried(here.db.Owner) {
		t.Error("the lease of a process that is gone stays")
	}
	overdue(t, j)
	if !buried(unseen) || j.db.Store.(*stores.Postgres).Leased(unseen) {
		t.Error("a lease that is over stays")
	}
}

// Without a reachable server, nobody counts as gone.
func TestLeaseWithoutServer(t *testing.T) {
	nowhere, err := postgres.Parse("postgres://me@127.0.0.1:1/x")
	if err != nil {
		t.Fatal(err)
	}
	s := &stores.Postgres{At: nowhere}
	for range 2 {
		if !s.Leased(owners.Owner{Key: "other"}) {
			t.Error("it counts as gone")
		}
	}
}

// With clocks an hour apart, the server's time counts.
func TestClocksApart(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	s := j.db.Store.(*stores.Postgres)
	if off := j.db.ClockOffset.Load(); off != 0 {
		t.Errorf("a clock that was given is put right by %v", time.Duration(off))
	}
	s.CorrectsClock = true
	if err := s.Renew(j.db.Writer); err != nil {
		t.Fatal(err)
	}
	if off := time.Since(j.db.Now()).Abs(); off > time.Minute {
		t.Errorf("the journal's clock is %v off", off)
	}
}

// Small differences between synchronized clocks do not count.
func TestAhead(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		time.Second - 1: 0, 1 - time.Second: 0, 0: 0, time.Second: time.Second, -time.Second: -time.Second, time.Hour: time.Hour,
	} {
		if got := stores.Significant(d); got != want {
			t.Errorf("%v ahead counts as %v", d, got)
		}
	}
}

// Two stores of one server are separate: neither shows or resumes the runs of the
// other, and they can use the same names.
func TestTwoStores(t *testing.T) {
	serverOnly(t)
	one, other := journalAt(t, at(t, filepath.Join(t.TempDir(), "a.db")), Options{}), journalAt(t, at(t, filepath.Join(t.TempDir(), "b.db")), Options{TakeOver: true})
	begin(t, one, runner.Start{RunID: "run"})
	paused(t, one)
	_, shown := other.Run(t.Context(), "run")
	_, reopened := other.Reopen("run")
	for what, err := range map[string]error{"shown": shown, "gone on with": reopened, "answered": other.Answer(t.Context(), "run", "", engine.Answer{Value: "x"})} {
		if !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("it is %s: %v", what, err)
		}
	}
	overdue(t, one)
	if lost, err := other.Abandoned(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("got %v, %v", lost, err)
	}
	if err := begin(t, other, runner.Start{RunID: "run"}).End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Error(err)
	}
	if run, err := one.Run(t.Context(), "run"); err != nil || run.Finished != nil {
		t.Errorf("got %+v, %v", run, err)
	}
}
