package journal

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// Confirmed data that the store has lost is written again while it is in
// memory. Otherwise the run stops.
func TestRemembered(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	j.db.Dialect.Forgets = true
	h := r.Host(quick{"one"})
	ask := func(at event.Path) {
		t.Helper()
		if _, err := h.Model(at, model.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	lose := func(last int64) error {
		return j.db.Writer.Do(func(c *stores.Conn) error {
			if _, err := c.Exec("DELETE FROM pack WHERE id > ? AND id < ?", packID(r.n, last), packID(r.n+1, 0)); err != nil {
				return err
			}
			return r.rewriteLost(c)
		})
	}
	ask("a/model[0]")
	first := r.confirmedRow
	ask("b/model[0]")
	ask("c/model[0]")
	for _, last := range []int64{r.confirmedRow, r.confirmedRow - 1, first} {
		if err := lose(last); err != nil {
			t.Errorf("after row %d: %v", last, err)
		}
		if n := len(effectsOf(t, j, "run")); n != 3 {
			t.Errorf("after row %d: %d effects are kept", last, n)
		}
	}
	// If a rewrite is rolled back, because another job of the transaction
	// failed, it is repeated.
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("DELETE FROM pack WHERE id > ? AND id < ?", packID(r.n, first), packID(r.n+1, 0))
		j.db.Writer.EndEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	done := r.queue()
	r.mu.Unlock()
	j.db.Writer.Add(func(*stores.Conn) error { return errStatement }, func(error) {})
	if err := j.db.Writer.Wait(done); err != nil || len(effectsOf(t, j, "run")) != 3 {
		t.Errorf("beside another run: %d effects are stored: %v", len(effectsOf(t, j, "run")), err)
	}
	for i := range r.recent[:3] {
		r.recent[i].at = r.recent[i].at.Add(-2 * lossWindow)
	}
	if ask("d/model[0]"); len(r.recent) != 2 {
		t.Errorf("%d pieces are at hand", len(r.recent))
	}
	if err := lose(first); err == nil || !strings.Contains(err.Error(), "the server has lost the last of what run run had done; it can be gone on with: capstan resume run") {
		t.Errorf("got %v", err)
	}
	garbled := j.db.Writer.Do(func(c *stores.Conn) error {
		if _, err := c.Exec("UPDATE pack SET data = ? WHERE id >> 32 = ?", []byte{1}, r.n); err != nil {
			return err
		}
		return r.rewriteLost(c)
	})
	if garbled == nil || !strings.Contains(garbled.Error(), "the journal is damaged: rows") {
		t.Errorf("got %v", garbled)
	}
	elsewhere(t, j, "run")
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		if _, err := c.Exec("UPDATE run SET epoch = epoch + 1 WHERE n = ?", r.n); err != nil {
			return err
		}
		return r.fence(c)
	})
	if !errors.Is(err, runner.ErrRunTaken) || !strings.HasSuffix(err.Error(), " (process 7 on elsewhere)") {
		t.Errorf("got %v", err)
	}
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		if _, err := c.Exec("UPDATE run SET owner = NULL, epoch = epoch + 1 WHERE n = ?", r.n); err != nil {
			return err
		}
		return r.fence(c)
	})
	if !errors.Is(err, runner.ErrRunTaken) || !strings.HasSuffix(err.Error(), runner.ErrRunTaken.Error()) { // the owner has released it
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
		first := r.confirmedRow
		if _, err := h.Model("b/model[0]", model.Request{}); err != nil {
			t.Fatal(err)
		}
		err := j.db.Writer.Do(func(c *stores.Conn) error {
			_, err := c.Exec("DELETE FROM pack WHERE id > ? AND id < ?", packID(r.n, first), packID(r.n+1, 0))
			j.db.Writer.EndEra()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		b := breaking(j)
		b.next(k)
		_, err = h.Model("c/model[0]", model.Request{})
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
	err := j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("DELETE FROM pack WHERE id = ?", packID(r.n, r.confirmedRow))
		j.db.Writer.EndEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Model("c/model[0]", model.Request{}); err == nil || !strings.Contains(err.Error(), "has lost the last") {
		t.Errorf("got %v", err)
	}
	if err := r.End(engine.Result{Status: engine.Failed}, nil); err != nil {
		t.Error(err)
	}
	again := reopen(t, j, "run").(*recording)
	if len(again.stored) != 1 {
		t.Errorf("%d effects are kept", len(again.stored))
	}
	// Nothing is retried for a run that another process has removed.
	err = j.db.Writer.Do(func(c *stores.Conn) error {
		_, err := c.Exec("DELETE FROM run WHERE n = ?", r.n)
		j.db.Writer.EndEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.End(engine.Result{Status: engine.Failed}, nil); err != nil || j.retries.find("run") != nil {
		t.Errorf("got %v", err)
	}
}
