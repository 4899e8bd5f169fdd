package journal

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// lose removes the rows of a run after one of them, as a crash of the server does.
func lose(t *testing.T, j *Journal, n, last int64) {
	t.Helper()
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("DELETE FROM pack WHERE id > ? AND id < ?", n<<32|last, (n+1)<<32)
		j.db.Writer.EndEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lastRowOf returns the number of a run's last row.
func lastRowOf(t *testing.T, j *Journal, n int64) int64 {
	rows := storedRows(t, j, n)
	return rows[len(rows)-1].Row
}

// Confirmed data that the store has lost is written again while it is in
// memory. Otherwise the run stops.
func TestRemembered(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	garbled := begin(t, j, runner.Start{RunID: "garbled"}).(*recording)
	taken := begin(t, j, runner.Start{RunID: "taken"}).(*recording)
	j.db.Dialect.Forgets = true
	ask := func(r runner.Recording, at event.Path) {
		t.Helper()
		if _, err := r.Host(quick{"one"}).Model(at, model.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	ask(r, "a/model[0]")
	first := lastRowOf(t, j, r.n)
	ask(r, "b/model[0]")
	ask(r, "c/model[0]")
	for _, last := range []int64{lastRowOf(t, j, r.n), lastRowOf(t, j, r.n) - 1, first} {
		lose(t, j, r.n, last)
		if err := r.commit(); err != nil {
			t.Errorf("after row %d: %v", last, err)
		}
		if n := len(effectsOf(t, j, "run")); n != 3 {
			t.Errorf("after row %d: %d effects are kept", last, n)
		}
	}
	// If a rewrite is rolled back with another job of its transaction, it is
	// repeated.
	lose(t, j, r.n, first)
	j.db.Writer.Before = func() error { j.db.Writer.Before = nil; return errStatement }
	j.db.Writer.Add(func(*stores.Conn) error { return nil }, func(error) {})
	if err := r.commit(); err != nil || j.db.Writer.Before != nil || len(effectsOf(t, j, "run")) != 3 {
		t.Errorf("beside another: %d effects are kept, %v", len(effectsOf(t, j, "run")), err)
	}
	recent := len(r.recent)
	for i := range r.recent[:3] {
		r.recent[i].at = r.recent[i].at.Add(-2 * lossWindow)
	}
	if ask(r, "d/model[0]"); len(r.recent) != recent-2 {
		t.Errorf("%d pieces are at hand of %d", len(r.recent), recent)
	}
	lose(t, j, r.n, first)
	if err := r.commit(); err == nil || !strings.Contains(err.Error(), "the server has lost the last of what run run had done; it can be gone on with: capstan resume run") {
		t.Errorf("got %v", err)
	}
	ask(garbled, "a/model[0]")
	change := func(r *recording, text string, args ...any) {
		t.Helper()
		err := j.db.Writer.Do(func(c *stores.Conn) error {
			_, err := c.Exec(text, append(args, r.n)...)
			j.db.Writer.EndEra()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(garbled, "UPDATE pack SET data = ? WHERE id >> 32 = ?", []byte{1})
	if err := garbled.commit(); err == nil || !strings.Contains(err.Error(), "the journal is damaged: rows") {
		t.Errorf("got %v", err)
	}
	elsewhere(t, j, "taken")
	change(taken, "UPDATE run SET epoch = epoch + 1 WHERE n = ?")
	if err := taken.Owned(); !errors.Is(err, runner.ErrRunTaken) || !strings.HasSuffix(err.Error(), " (process 7 on elsewhere)") {
		t.Errorf("got %v", err)
	}
	change(taken, "UPDATE run SET owner = NULL, epoch = epoch + 1 WHERE n = ?")
	if err := taken.Owned(); !errors.Is(err, runner.ErrRunTaken) || !strings.HasSuffix(err.Error(), runner.ErrRunTaken.Error()) { // the owner has released it
		t.Errorf("got %v", err)
	}
	j.db.Dialect.Forgets = false
}

// Whichever statement of the check fails, nothing is written after lost data.
func TestRememberedUnseen(t *testing.T) {
	for k, broke := 1, true; broke; k++ {
		j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
		r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
		j.db.Dialect.Forgets = true
		h := r.Host(quick{"one"})
		if _, err := h.Model("a/model[0]", model.Request{}); err != nil {
			t.Fatal(err)
		}
		first := lastRowOf(t, j, r.n)
		if _, err := h.Model("b/model[0]", model.Request{}); err != nil {
			t.Fatal(err)
		}
		lose(t, j, r.n, first)
		b := breaking(j)
		b.next(k)
		_, err := h.Model("c/model[0]", model.Request{})
		text := b.broke()
		broke = text != ""
		b.next(0)
		stored := effectsOf(t, j, "run")
		if _, gap := stored["c/model[0]"]; gap != (err == nil) || gap && len(stored) != 3 {
			t.Errorf("statement %d, %s: %v, and there are kept %v", k, text, err, stored)
		}
		j.db.Dialect.Forgets = false
	}
}

// A run whose last rows the server has lost is released. It can be resumed from
// the rest while its process lives, as its error says.
func TestRememberedInVain(t *testing.T) {
	if onServer == nil {
		t.Skip("a file loses nothing")
	}
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	h := r.Host(quick{"one"})
	for _, at := range []event.Path{"a/model[0]", "b/model[0]"} {
		if _, err := h.Model(at, model.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	r.recent = nil // it was confirmed long ago
	lose(t, j, r.n, lastRowOf(t, j, r.n)-1)
	if _, err := h.Model("c/model[0]", model.Request{}); err == nil || !strings.Contains(err.Error(), "has lost the last") {
		t.Errorf("got %v", err)
	}
	if err := r.End(engine.Result{Status: engine.Failed}, nil); err != nil {
		t.Error(err)
	}
	again := reopen(t, j, "run")
	if n := len(effectsOf(t, j, "run")); n != 1 {
		t.Errorf("%d effects are kept", n)
	}
	// Nothing is retried for a run that another process has removed.
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("DELETE FROM run WHERE n = ?", r.n)
		j.db.Writer.EndEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.End(engine.Result{Status: engine.Failed}, nil); err != nil {
		t.Errorf("got %v", err)
	}
	b := breaking(j)
	statements := func(id string) []string {
		b.next(0)
		if _, err := j.Reopen(id); !errors.Is(err, runner.ErrNoRun) {
			t.Errorf("run %s: %v", id, err)
		}
		return b.statements()
	}
	if got, want := statements("run"), statements("nowhere"); !slices.Equal(got, want) {
		t.Errorf("its end is retried: %q", got)
	}
}
