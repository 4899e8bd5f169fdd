package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/owners"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// elsewhere makes the run's owner one of whom nothing can be told.
func elsewhere(t testing.TB, j *Journal, id string) {
	t.Helper()
	gone := owners.Owner{PID: 7, Key: "elsewhere", Place: owners.Place{Host: "elsewhere"}}.Text()
	err := j.writer.do(func(c *conn) error {
		if onServer != nil && !j.options.TakeOver {
			if _, err := c.Exec("INSERT INTO process VALUES ('elsewhere', now() + interval '1 hour') ON CONFLICT DO NOTHING"); err != nil {
				return err
			}
		}
		_, err := c.Exec("UPDATE run SET owner = ? WHERE id = ?", gone, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A hijacker is a host that has something happen at its k-th effect: when it is
// told of, so that it is not made yet, or while it is made.
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

// A run that another takes over, at any of its effects, goes on there alone:
// the one that had it makes no further effect, writes nothing, and says why.
func TestTakenOver(t *testing.T) {
	onFile(t) // a lease says who is gone: TestPausedOwner
	oneByOne(t)
	r, err := runner.New(runner.WithModel(model.Func(mind)), runner.WithTools(enginetest.Tools()...), runner.WithValidators(enginetest.Validators()...))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("rich.yaml", []byte(rich))
	if err != nil {
		t.Fatal(err)
	}
	s := &story{&enginetest.Story{Cascade: c, Input: map[string]any{"topic": "owls"}}}
	want := wholeOver(t, s, r.Host(t.Context()))
	for _, inside := range []bool{false, true} {
		for k := 1; ; k++ {
			file := filepath.Join(t.TempDir(), "j.db")
			first := journalAt(t, file, Options{careless: true})
			first.writer.trusts = 0
			left, made, struck := k, 0, 0
			var rows int64
			strike := func() {
				struck = made
				elsewhere(t, first, "run")
				second := journalAt(t, file, Options{careless: true, TakeOver: true})
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
			var why *engine.Error
			if !errors.As(err, &why) || why.Code != engine.TakenOver || !errors.Is(err, runner.ErrRunTaken) || result.Status != engine.Failed {
				t.Fatalf("taken at %d: got %+v, %v", k, result, err)
			}
			if made != struck {
				t.Errorf("taken at %d: %d effects were made after that", k, made-struck)
			}
			if err := recording.End(result, why); !errors.Is(err, runner.ErrRunTaken) {
				t.Errorf("taken at %d: End gave %v", k, err)
			}
			if n := logRows(t, first); n != rows {
				t.Errorf("taken at %d: %d rows were written after that", k, n-rows)
			}
			if kept, err := first.Result(t.Context(), "run"); err != nil || asJSON(t, kept) != want {
				t.Errorf("taken at %d: kept is %s, %v", k, asJSON(t, kept), err)
			}
			first.Close()
		}
	}
}

func wholeOver(t *testing.T, s *story, inner engine.Host) string {
	t.Helper()
	j := journalAt(t, filepath.Join(t.TempDir(), "whole.db"), Options{careless: true})
	result, err := s.run(t, begin(t, j, s.start("run")), inner, true)
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, result)
}

func logRows(t *testing.T, j *Journal) (n int64) {
	t.Helper()
	err := j.reading(t.Context(), func(c *conn) (err error) { n, err = c.number("SELECT count(*) FROM entry"); return err })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Of a run that was taken twice only the last may go on; one that is taken at
// its very end gives no text.
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

// The runner gives no text of a run that it lost at its end.
func TestTakenAtTheEnd(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{TakeOver: true})
	m := &says{answers: map[string]string{"First": "a", "Then": "b", "Last": "c"}}
	r := runnerOver(t, j, m, runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.RunFinished {
			elsewhereNow(j, "run")
		}
	})))
	result, err := r.Run(t.Context(), load(t, twoPhases), map[string]any{"topic": "owls"}, runner.WithRunID("run"))
	var why *runner.Error
	if !errors.As(err, &why) || why.Code != runner.TakenOver || result.Output != nil || result.Status != runner.Failed || result.Error.Code != runner.TakenOver {
		t.Errorf("got %+v, %v", result, err)
	}
}

// elsewhereNow has the next epoch begin, as another process does.
func elsewhereNow(j *Journal, id string) {
	c, err := j.store.reader()
	if onServer == nil {
		c, err = dial(fileOf(j), "rw", patience)
	}
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Exec("UPDATE run SET epoch = epoch + 1 WHERE id = ?", id)
}

// Who answers for a process that is said to be gone takes the run from it.
func TestAnswerTakes(t *testing.T) {
	onFile(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{TakeOver: true})
	r := begin(t, j, runner.Start{RunID: "run"})
	q := engine.Question{Phase: "p", Prompt: "Well?", Type: "text"}
	if _, err := r.Host(quick{}).Ask("p/human_input", q); !errors.Is(err, engine.ErrSuspended) {
		t.Fatal(err)
	}
	elsewhere(t, j, "run")
	if err := j.Answer(t.Context(), "run", "", runner.Answer{Value: "yes"}); err != nil {
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

// A journal of an older capstan is looked at as it is, and brought up to date
// by whoever writes; a process of that capstan which has it open still can
// write nothing more into it.
func TestOlderJournal(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	m := &says{answers: map[string]string{"First": "a", "Then": "b", "Last": "c"}, fails: map[string]int{"Then": 1}}
	input := map[string]any{"topic": "owls"}
	if _, err := runnerOver(t, j, m).Run(t.Context(), load(t, twoPhases), input, runner.WithRunID("run")); err == nil {
		t.Fatal("it did not fail")
	}
	aged(t, j)
	pragma(t, j, "user_version = 1")
	err := j.writer.do(func(c *conn) error {
		return c.Script("ALTER TABLE run DROP COLUMN epoch; ALTER TABLE log DROP COLUMN epoch")
	})
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	only := journalAt(t, file, Options{ReadOnly: true})
	if run, err := only.Run(t.Context(), "run"); err != nil || run.Status != engine.Failed || len(eventsOf(t, only, "run", Whole)) == 0 {
		t.Errorf("looked at: %+v, %v", run, err)
	}
	only.Close()
	old, err := dial(file, "rw", patience)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	const row = "INSERT OR REPLACE INTO log VALUES (4294968296, 1, 2, 'feedback', 'p', NULL, NULL, '{}')"
	if _, err := old.Exec(row); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Exec("DELETE FROM log WHERE id = 4294968296"); err != nil {
		t.Fatal(err)
	}
	j = journalAt(t, file, Options{})
	if _, err := old.Exec(row); err == nil {
		t.Error("an older capstan writes without an epoch")
	}
	if result, err := runnerOver(t, j, m).Resume(t.Context(), "run"); err != nil || result.Output != "c" {
		t.Errorf("got %+v, %v", result, err)
	}
	if got, want := fmt.Sprint(m.calls), "[First Then Then Last]"; got != want {
		t.Errorf("calls: %s, want %s", got, want)
	}
}

// That nobody else has written is trusted for a while of a run that was seen in this
// era of the writer, and of no other.
func TestMineLooksInEachEra(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r, w := begin(t, j, runner.Start{RunID: "run"}).(*recording), j.writer
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	if err := w.do(func(c *conn) error { _, err := c.Exec("UPDATE run SET epoch = epoch + 1 WHERE n = ?", r.n); return err }); err != nil {
		t.Fatal(err)
	}
	w.trusts = time.Hour
	w.alone.Store(w.clock())
	if err := r.mine(); err != nil {
		t.Errorf("in its era: %v", err)
	}
	w.endEra()
	if err := r.mine(); !errors.Is(err, runner.ErrRunTaken) {
		t.Errorf("in another era: %v", err)
	}
}

// A run that somebody has removed with a tool of his own is written to no more, and told.
func TestRunIsGone(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	if err := j.writer.do(func(c *conn) error { _, err := c.Exec("DELETE FROM run WHERE n = ?", r.n); return err }); err != nil {
		t.Fatal(err)
	}
	j.writer.endEra()
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err == nil || !strings.Contains(err.Error(), "run run is not there") {
		t.Errorf("got %v", err)
	}
}

// A run that another has taken is not written to, whichever statement fails with
// which that would be seen.
func TestTakenOverUnseen(t *testing.T) {
	onFile(t)
	for k, broke := 1, true; broke; k++ {
		file := filepath.Join(t.TempDir(), "j.db")
		first := journalAt(t, file, Options{careless: true})
		r := begin(t, first, runner.Start{RunID: "run"})
		elsewhere(t, first, "run")
		second := journalAt(t, file, Options{careless: true, TakeOver: true})
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

// That nobody else has written is taken for true for a while, and no longer.
func TestTrusts(t *testing.T) {
	onFile(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r, w := begin(t, j, runner.Start{RunID: "run"}).(*recording), j.writer
	if _, err := r.Host(quick{}).Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	w.began, w.trusts = time.Now().Add(-time.Hour), time.Minute
	b := breaking(j)
	for ago, asked := range map[time.Duration]bool{0: false, 2 * time.Minute: true} {
		b.next(0)
		w.alone.Store(w.clock() - int64(ago))
		if err := r.mine(); err != nil || (len(b.said()) > 0) != asked {
			t.Errorf("seen %s ago: %v, and asked %q", ago, err, b.said())
		}
	}
}
