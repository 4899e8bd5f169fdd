package journal

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/runner/journal/postgres"
)

// A process whose connection is cut dials again, and counts as alive until then;
// one that is closed tells nobody any more, and leaves nothing behind.
func TestLease(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	j, other := journalAt(t, where, Options{}), journalAt(t, where, Options{})
	s, seen := j.store.(*server), other.store.(*server)
	leases := func() (n int64) {
		err := seen.telling(func(c *conn) (err error) {
			n, err = c.number("SELECT count(*) FROM process WHERE until > clock_timestamp()")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	teller := func() (pid int64) {
		err := s.telling(func(c *conn) (err error) { pid, err = c.number("SELECT pg_backend_pid()::bigint"); return err })
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	cut := func() {
		if _, err := other.writer.c.number("SELECT pg_terminate_backend(?::int)::int::bigint", teller()); err != nil {
			t.Fatal(err)
		}
	}
	if first := teller(); first != teller() {
		t.Error("it dials each time")
	}
	cut()
	if !s.leased(j.owner) {
		t.Error("of whom nothing is heard counts as gone")
	}
	if !s.leased(j.owner) || !s.leased(other.owner) || s.leased(owners.Owner{Key: "nobody"}) {
		t.Error("who has a lease is not told from who has none")
	}
	if n := leases(); n != 2 {
		t.Errorf("%d leases stand", n)
	}
	told := teller()
	if err := j.Close(); err != nil || leases() != 1 {
		t.Errorf("closed with %v: %d leases stand", err, leases())
	}
	for began, there := time.Now(), int64(1); there > 0; {
		if there, _ = other.writer.c.number("SELECT count(*) FROM pg_stat_activity WHERE pid = ?::int", told); time.Since(began) > 10*time.Second {
			t.Fatal("a connection is left behind")
		}
	}
	for _, noticed := range []bool{false, true} {
		j = journalAt(t, where, Options{})
		s = j.store.(*server)
		cut()
		if noticed {
			s.leased(j.owner)
		}
		if err := j.Close(); err != nil {
			t.Errorf("the server could not be told that the journal is closed: %v", err)
		}
	}
	for range 2 {
		if err := s.telling(func(*conn) error { return nil }); !errors.Is(err, errClosed) {
			t.Errorf("a closed journal tells something: %v", err)
		}
	}
}

// Whichever statement fails that puts a lease off: it is not taken for put off.
func TestBeatFails(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	s, b := j.store.(*server), &breaker{}
	if err := s.telling(func(c *conn) error { c.link = &fragile{c.link, b}; return nil }); err != nil {
		t.Fatal(err)
	}
	for k, asks := 1, 2; k <= asks+1; k++ { // the last asks what time it is
		err := j.writer.do(func(c *conn) error { return c.send("DELETE FROM process") })
		if err != nil {
			t.Fatal(err)
		}
		b.next(k)
		before := j.writer.alone.Load()
		if err := s.beat(j.writer); !errors.Is(err, errStatement) {
			t.Errorf("statement %d, %s: got %v", k, b.broke(), err)
		}
		if k <= asks && j.writer.alone.Load() != before {
			t.Errorf("%s: it failed, and the lease counts", b.broke())
		}
	}
}

// A lease is put off three times in its length.
func TestLeaseIsPutOff(t *testing.T) {
	serverOnly(t)
	t.Parallel()
	began := time.Now()
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Lease: time.Second})
	until := func() (n int64) {
		err := j.store.(*server).telling(func(c *conn) (err error) {
			n, err = c.number("SELECT (extract(epoch FROM until) * 1000000)::bigint FROM process WHERE key = ? AND until > clock_timestamp()", j.owner.Key)
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

// A server that was away has ended the lease of each: none takes the others for
// gone before they have had the time to say that they live, but then whoever has not.
func TestLeasesEndTogether(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	lives, looks := journalAt(t, where, Options{Lease: time.Minute}), journalAt(t, where, Options{Lease: time.Minute})
	begin(t, lives, runner.Start{RunID: "run"})
	w, s := looks.writer, looks.store.(*server)
	back := func() { w.alone.Store(w.clock() - int64(time.Minute)) }
	for _, step := range []struct {
		what string
		do   func()
		gone int
	}{
		{"its own lease may have ended", func() { overdue(t, looks); back() }, 0},
		{"it had ended", func() {
			overdue(t, lives)
			overdue(t, looks)
			if err := s.beat(w); err != nil {
				t.Fatal(err)
			}
		}, 0},
		{"the other has not said that it lives", func() { s.pulse.judges.Store(w.clock()) }, 1},
		{"the other lives", func() { _ = lives.store.(*server).beat(lives.writer) }, 0},
		{"its own lease stood on", func() { overdue(t, looks); back(); _ = s.beat(w) }, 1},
	} {
		step.do()
		if gone, err := looks.Abandoned(t.Context()); err != nil || len(gone) != step.gone {
			t.Errorf("%s: got %v, %v, want %d", step.what, gone, err, step.gone)
		}
	}
}

// A run that is taken between the look whether it stands and the end of the
// transaction is not written.
func TestTakenMeanwhile(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	taken := false
	j.writer.before = func() error {
		if !taken {
			elsewhereNow(j, "run")
		}
		taken = true
		return nil
	}
	if err := r.commit(); !taken || !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("taken %v, got %v", taken, err)
	}
	j.writer.before = nil
}

// The lease of a process that is seen to be gone is taken away whatever it says;
// that of one that cannot be seen only when it is over; that of one's own never.
func TestBury(t *testing.T) {
	serverOnly(t)
	where := at(t, filepath.Join(t.TempDir(), "j.db"))
	j, far, here := journalAt(t, where, Options{}), journalAt(t, where, Options{}), journalAt(t, where, Options{})
	unseen := far.owner
	unseen.Place = owners.Place{Host: "far", Boot: "b", Space: "s"}
	buried := func(o owners.Owner) (gone bool) {
		err := j.writer.do(func(c *conn) (err error) { gone, err = j.store.bury(c, o.Text()); return err })
		if err != nil {
			t.Fatal(err)
		}
		return gone
	}
	overdue(t, j)
	if buried(here.owner) || buried(j.owner) {
		t.Error("the lease of a journal that is open here is taken away")
	}
	for _, one := range []*Journal{far, here} {
		if err := one.store.(*server).beat(one.writer); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []owners.Owner{far.owner, here.owner} {
		o.Close()
	}
	if buried(unseen) {
		t.Error("a lease that stands is taken from who may be at work")
	}
	b := breaking(j)
	for k, broke := 1, true; broke; k++ { // whichever statement fails
		b.next(k)
		err := j.writer.do(func(c *conn) error { _, err := b.store.bury(c, unseen.Text()); return err })
		if broke = b.broke() != ""; broke != errors.Is(err, errStatement) {
			t.Errorf("statement %d, %s: got %v", k, b.broke(), err)
		}
	}
	j.store = b.store
	b.next(0)
	if !buried(here.owner) {
		t.Error("the lease of a process that is gone stays")
	}
	overdue(t, j)
	if !buried(unseen) || j.store.(*server).leased(unseen) {
		t.Error("a lease that is over stays")
	}
}

// Where no server is to be reached, nobody counts as gone.
func TestLeaseWithoutServer(t *testing.T) {
	nowhere, err := postgres.Parse("postgres://me@127.0.0.1:1/x")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{at: nowhere}
	for range 2 {
		if !s.leased(owners.Owner{Key: "other"}) {
			t.Error("it counts as gone")
		}
	}
}

// Clocks an hour apart: times are the server's.
func TestClocksApart(t *testing.T) {
	serverOnly(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	s := j.store.(*server)
	if off := j.ahead.Load(); off != 0 {
		t.Errorf("a clock that was given is put right by %v", time.Duration(off))
	}
	s.corrects = true
	if err := s.beat(j.writer); err != nil {
		t.Fatal(err)
	}
	if off := time.Since(j.now()).Abs(); off > time.Minute {
		t.Errorf("the journal's clock is %v off", off)
	}
}

// Clocks that the network keeps differ by nothing.
func TestAhead(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		time.Second - 1: 0, 1 - time.Second: 0, 0: 0, time.Second: time.Second, -time.Second: -time.Second, time.Hour: time.Hour,
	} {
		if got := ahead(d); got != want {
			t.Errorf("%v ahead counts as %v", d, got)
		}
	}
}

// Two stores of one server that are mixed up: a run of the one is no run of the other,
// which neither shows it nor goes on with it, and may have one of that name.
func TestTwoStores(t *testing.T) {
	serverOnly(t)
	one, other := journalAt(t, at(t, filepath.Join(t.TempDir(), "a.db")), Options{}), journalAt(t, at(t, filepath.Join(t.TempDir(), "b.db")), Options{TakeOver: true})
	begin(t, one, runner.Start{RunID: "run"})
	paused(t, one)
	_, shown := other.Run(t.Context(), "run")
	_, reopened := other.Reopen("run")
	for what, err := range map[string]error{"shown": shown, "gone on with": reopened, "answered": other.Answer(t.Context(), "run", "", runner.Answer{Value: "x"})} {
		if !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("it is %s: %v", what, err)
		}
	}
	overdue(t, one)
	if gone, err := other.Abandoned(t.Context()); err != nil || len(gone) > 0 {
		t.Errorf("got %v, %v", gone, err)
	}
	if err := begin(t, other, runner.Start{RunID: "run"}).End(engine.Result{RunID: "run", Status: engine.Succeeded}, nil); err != nil {
		t.Error(err)
	}
	if run, err := one.Run(t.Context(), "run"); err != nil || run.Finished != nil {
		t.Errorf("got %+v, %v", run, err)
	}
}
