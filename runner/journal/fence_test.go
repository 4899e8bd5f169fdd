package journal

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/owners"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// elsewhere sets an owner that cannot be checked.
func elsewhere(t testing.TB, j *Journal, id string) {
	t.Helper()
	lost := owners.Owner{PID: 7, Key: "elsewhere", Place: owners.Place{Host: "elsewhere"}}.Text()
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		if onServer != nil && !j.db.Options.TakeOver {
			if _, err := c.Exec("INSERT INTO process VALUES ('elsewhere', now() + interval '1 hour') ON CONFLICT DO NOTHING"); err != nil {
				return err
			}
		}
		_, err := c.Exec("UPDATE run SET owner = ? WHERE id = ?", lost, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A hijacker is a host that calls a function at its k-th effect, before or
// during the effect.
type hijacker struct {
	engine.Host
	left   *int
	inside bool
	made   *int
	strike func()
}

func (h hijacker) effect() {
	*h.made++
	if h.inside {
		h.count()
	}
}

func (h hijacker) count() {
	if *h.left--; *h.left == 0 {
		h.strike()
	}
}

func (h hijacker) Emit(e event.Event) {
	h.Host.Emit(e)
	if !h.inside && (e.Kind == event.ModelCalled || e.Kind == event.ToolCalled) {
		h.count()
	}
}

func (h hijacker) Model(at event.Path, req model.Request) (model.Response, error) {
	h.effect()
	return h.Host.Model(at, req)
}

func (h hijacker) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	h.effect()
	return h.Host.Tool(at, job)
}

func (h hijacker) Each(n, _ int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, 1, func(inner engine.Host, i int) error {
		h.Host = inner
		return body(h, i)
	})
}

func (h hijacker) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error {
		h.Host = inner
		return body(h)
	})
}

// If another process takes over a run at any effect, the run continues only there. The
// first process makes no further effect, writes nothing and returns the reason.
func TestTakenOver(t *testing.T) {
	onFile(t) // a server decides by leases: TestPausedOwner
	oneByOne(t)
	r, err := runner.New(runner.WithModel(model.Func(mind)), runner.WithTools(storytest.Tools()...), runner.WithValidators(storytest.Validators()...))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("rich.yaml", []byte(rich))
	if err != nil {
		t.Fatal(err)
	}
	s := &story{&storytest.Story{Cascade: c, Input: map[string]any{"topic": "owls"}}}
	want := wholeOver(t, s, r.Host(t.Context()))
	for _, inside := range []bool{false, true} {
		for k := 1; ; k++ {
			file := filepath.Join(t.TempDir(), "j.db")
			first := journalAt(t, file, Options{noSync: true})
			first.db.Writer.Trust = 0
			left, made, struck := k, 0, 0
			var rows int64
			strike := func() {
				struck = made
				elsewhere(t, first, "run")
				second := journalAt(t, file, Options{noSync: true, TakeOver: true})
				defer second.Close()
				got, err := s.run(t, reopen(t, second, "run"), r.Host(t.Context()), true)
				if err != nil || asJSON(t, got) != want {
					t.Fatalf("taken at %d: got %s, %v", k, asJSON(t, got), err)
				}
				rows = logRows(t, second)
			}
			recording := begin(t, first, s.start("run"))
			result, err := s.run(t, recording, hijacker{r.Host(t.Context()), &left, inside, &made, strike}, false)
			if left > 0 {
				if k < 12 {
					t.Errorf("only %d effects", k)
				}
				break
			}
			var cause *engine.Error
			if !errors.As(err, &cause) || cause.Code != engine.TakenOver || !errors.Is(err, runner.ErrRunTaken) || result.Status != engine.Failed {
				t.Fatalf("taken at %d: got %+v, %v", k, result, err)
			}
			if made != struck {
				t.Errorf("taken at %d: %d effects were made after that", k, made-struck)
			}
			if err := recording.End(result, cause); !errors.Is(err, runner.ErrRunTaken) {
				t.Errorf("taken at %d: End gave %v", k, err)
			}
			if n := logRows(t, first); n != rows {
				t.Errorf("taken at %d: %d rows were written after that", k, n-rows)
			}
			if stored, err := first.Result(t.Context(), "run"); err != nil || asJSON(t, stored) != want {
				t.Errorf("taken at %d: kept is %s, %v", k, asJSON(t, stored), err)
			}
			first.Close()
		}
	}
}

func wholeOver(t *testing.T, s *story, inner engine.Host) string {
	t.Helper()
	j := journalAt(t, filepath.Join(t.TempDir(), "whole.db"), Options{noSync: true})
	result, err := s.run(t, begin(t, j, s.start("run")), inner, true)
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, result)
}

func logRows(t *testing.T, j *Journal) (n int64) {
	t.Helper()
	err := j.db.Read(t.Context(), func(c *stores.Conn) (err error) { n, err = c.Number("SELECT count(*) FROM entry"); return err })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// If a run was taken twice, only the last owner may continue. A run that is taken in
// its last step returns no text.
func TestTakenTwice(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{TakeOver: true})
	starts := []runner.Recording{begin(t, j, runner.Start{RunID: "run"})}
	for range 2 {
		elsewhere(t, j, "run")
		starts = append(starts, reopen(t, j, "run"))
	}
	for i, r := range starts[:2] {
		if _, err := r.Host(quick{"no"}).Model("p/model", model.Request{}); !errors.Is(err, runner.ErrRunTaken) {
			t.Errorf("start %d made an effect: %v", i, err)
		}
		if err := r.End(engine.Result{Status: engine.Succeeded, Output: "stale"}, nil); !errors.Is(err, runner.ErrRunTaken) {
			t.Errorf("start %d ended: %v", i, err)
		}
	}
	if err := starts[2].End(engine.Result{RunID: "run", Status: engine.Succeeded, Output: "right"}, nil); err != nil {
		t.Fatal(err)
	}
	if r, err := j.Result(t.Context(), "run"); err != nil || r.Output != "right" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// The runner returns no text of a run that it lost at its end.
func TestTakenAtTheEnd(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{TakeOver: true})
	m := &says{answers: map[string]string{"First": "a", "Then": "b", "Last": "c"}}
	r := runnerOver(t, j, m, runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.RunFinished {
			elsewhereNow(j, "run")
		}
	})))
	result, err := r.Run(t.Context(), load(t, twoPhases), map[string]any{"topic": "owls"}, runner.WithRunID("run"))
	var cause *engine.Error
	if !errors.As(err, &cause) || cause.Code != engine.TakenOver || result.Output != nil || result.Status != engine.Failed || result.Error.Code != engine.TakenOver {
		t.Errorf("got %+v, %v", result, err)
	}
}

// elsewhereNow starts the next epoch, as another process does.
func elsewhereNow(j *Journal, id string) {
	c, err := j.db.Store.Reader()
	if onServer == nil {
		c, err = stores.DialFile(fileOf(j), "rw", stores.DefaultPatience)
	}
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Exec("UPDATE run SET epoch = epoch + 1 WHERE id = ?", id)
}

// An answer for a process that counts as gone takes the run from it.
func TestAnswerTakes(t *testing.T) {
	onFile(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{TakeOver: true})
	r := begin(t, j, runner.Start{RunID: "run"})
	q := engine.Question{Phase: "p", Prompt: "Well?", Type: "text"}
	if _, err := r.Host(quick{}).Ask("p/human_input", q); !errors.Is(err, engine.ErrSuspended) {
		t.Fatal(err)
	}
	elsewhere(t, j, "run")
	if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: "yes"}); err != nil {
		t.Fatal(err)
	}
	if err := r.End(engine.Result{Status: engine.Waiting}, nil); !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("the one that asked ended the run: %v", err)
	}
	answer, err := reopen(t, j, "run").Host(quick{}).Ask("p/human_input", q)
	if err != nil || answer.Value != "yes" {
		t.Errorf("got %v, %v", answer, err)
	}
}

// An era is trusted only for runs that were checked in it, and only for a limited time.
func TestMineLooksInEachEra(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r, w := begin(t, j, runner.Start{RunID: "run"}).(*recording), j.db.Writer
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Do(func(c *stores.Conn) error {
		_, err := c.Exec("UPDATE run SET epoch = epoch + 1 WHERE n = ?", r.n)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.Trust = time.Hour
	w.EraSeen.Store(w.Clock())
	if err := r.Owned(); err != nil {
		t.Errorf("in its era: %v", err)
	}
	w.EndEra()
	if err := r.Owned(); !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("in another era: %v", err)
	}
}

// A run whose rows were deleted by other means is not written any more, and its
// process gets an error.
func TestRunIsGone(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	if err := j.db.Writer.Do(func(c *stores.Conn) error { _, err := c.Exec("DELETE FROM run WHERE n = ?", r.n); return err }); err != nil {
		t.Fatal(err)
	}
	j.db.Writer.EndEra()
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err == nil || !strings.Contains(err.Error(), "run run is not there") {
		t.Errorf("got %v", err)
	}
}

// A process does not write a run that it has lost, whichever statement of the check
// fails.
func TestTakenOverUnseen(t *testing.T) {
	onFile(t)
	for k, broke := 1, true; broke; k++ {
		file := filepath.Join(t.TempDir(), "j.db")
		first := journalAt(t, file, Options{noSync: true})
		r := begin(t, first, runner.Start{RunID: "run"})
		elsewhere(t, first, "run")
		second := journalAt(t, file, Options{noSync: true, TakeOver: true})
		reopen(t, second, "run")
		rows, b := logRows(t, second), breaking(first)
		b.next(k)
		if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err == nil || logRows(t, second) != rows {
			t.Errorf("statement %d, %s: it was made, or written, with %v", k, b.broke(), err)
		}
		broke = b.broke() != ""
		first.Close()
		second.Close()
	}
}

// An era is trusted for a limited time.
func TestTrusts(t *testing.T) {
	onFile(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r, w := begin(t, j, runner.Start{RunID: "run"}).(*recording), j.db.Writer
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	w.Began, w.Trust = time.Now().Add(-time.Hour), time.Minute
	b := breaking(j)
	for ago, asked := range map[time.Duration]bool{0: false, 2 * time.Minute: true} {
		b.next(0)
		w.EraSeen.Store(w.Clock() - int64(ago))
		if err := r.Owned(); err != nil || (len(b.statements()) > 0) != asked {
			t.Errorf("seen %s ago: %v, and asked %q", ago, err, b.statements())
		}
	}
}
