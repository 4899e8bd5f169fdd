package journal

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// What a store has confirmed and lost is written once more, as long as it is at
// hand; where it is not, the run does not go on.
func TestRemembered(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	j.says.forgets = true
	h := r.Host(quick{"one"})
	ask := func(at event.Path) {
		t.Helper()
		if _, err := h.Model(at, model.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	lose := func(last int64) error {
		return j.writer.do(func(c *conn) error {
			if _, err := c.Exec("DELETE FROM pack WHERE run = ? AND last > ?", r.n, last); err != nil {
				return err
			}
			return r.remembered(c)
		})
	}
	ask("a/model[0]")
	first := r.there
	ask("b/model[0]")
	ask("c/model[0]")
	for _, last := range []int64{r.there, r.there - 1, first} {
		if err := lose(last); err != nil {
			t.Errorf("after row %d: %v", last, err)
		}
		if n := len(effectsOf(t, j, "run")); n != 3 {
			t.Errorf("after row %d: %d effects are kept", last, n)
		}
	}
	// What is written once more and taken back, since another could not be written
	// beside it, is written once more again.
	err := j.writer.do(func(c *conn) error {
		_, err := c.Exec("DELETE FROM pack WHERE run = ? AND last > ?", r.n, first)
		j.writer.endEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	done := r.queue()
	r.mu.Unlock()
	j.writer.add(job{func(*conn) error { return errStatement }, func(error) {}})
	if err := j.writer.wait(done); err != nil || len(effectsOf(t, j, "run")) != 3 {
		t.Errorf("beside another: %d effects are kept, %v", len(effectsOf(t, j, "run")), err)
	}
	for i := range r.recent[:3] {
		r.recent[i].at = r.recent[i].at.Add(-2 * forgotten)
	}
	if ask("d/model[0]"); len(r.recent) != 2 {
		t.Errorf("%d pieces are at hand", len(r.recent))
	}
	if err := lose(first); err == nil || !strings.Contains(err.Error(), "the server has lost the last of what run run had done; it can be gone on with: capstan resume run") {
		t.Errorf("got %v", err)
	}
	garbled := j.writer.do(func(c *conn) error {
		if _, err := c.Exec("UPDATE pack SET data = ? WHERE run = ?", []byte{1}, r.n); err != nil {
			return err
		}
		return r.remembered(c)
	})
	if garbled == nil || !strings.Contains(garbled.Error(), "the journal is damaged: rows") {
		t.Errorf("got %v", garbled)
	}
	elsewhere(t, j, "run")
	err = j.writer.do(func(c *conn) error {
		if _, err := c.Exec("UPDATE run SET epoch = epoch + 1 WHERE n = ?", r.n); err != nil {
			return err
		}
		return r.fence(c)
	})
	if !errors.Is(err, runner.ErrRunTaken) || !strings.HasSuffix(err.Error(), " (process 7 on elsewhere)") {
		t.Errorf("got %v", err)
	}
	err = j.writer.do(func(c *conn) error {
		if _, err := c.Exec("UPDATE run SET owner = NULL, epoch = epoch + 1 WHERE n = ?", r.n); err != nil {
			return err
		}
		return r.fence(c)
	})
	if !errors.Is(err, runner.ErrRunTaken) || !strings.HasSuffix(err.Error(), runner.ErrRunTaken.Error()) { // whoever had it has let go
		t.Errorf("got %v", err)
	}
	j.says.forgets = false
}

// Whichever statement fails with which that is seen, nothing is written behind what
// is lost.
func TestRememberedUnseen(t *testing.T) {
	for k, broke := 1, true; broke; k++ {
		j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
		r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
		j.says.forgets = true
		h := r.Host(quick{"one"})
		if _, err := h.Model("a/model[0]", model.Request{}); err != nil {
			t.Fatal(err)
		}
		first := r.there
		if _, err := h.Model("b/model[0]", model.Request{}); err != nil {
			t.Fatal(err)
		}
		err := j.writer.do(func(c *conn) error {
			_, err := c.Exec("DELETE FROM pack WHERE run = ? AND last > ?", r.n, first)
			j.writer.endEra()
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
		kept := effectsOf(t, j, "run")
		if _, gap := kept["c/model[0]"]; gap != (err == nil) || gap && len(kept) != 3 {
			t.Errorf("statement %d, %s: %v, and there are kept %v", k, text, err, kept)
		}
		j.says.forgets = false
	}
}

// A run whose last rows the server has lost is let go of, and can be gone on with from
// what is left, as its error says, while its process lives.
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
	err := j.writer.do(func(c *conn) error {
		_, err := c.Exec("DELETE FROM pack WHERE run = ? AND last = ?", r.n, r.there)
		j.writer.endEra()
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
	if len(again.kept) != 1 {
		t.Errorf("%d effects are kept", len(again.kept))
	}
	// Nor is anything owed of one that another has removed.
	err = j.writer.do(func(c *conn) error {
		_, err := c.Exec("DELETE FROM run WHERE n = ?", r.n)
		j.writer.endEra()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.End(engine.Result{Status: engine.Failed}, nil); err != nil || j.owed.find("run") != nil {
		t.Errorf("got %v", err)
	}
}
