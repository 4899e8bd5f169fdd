package journal

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
)

// A run of many packs is read to its end, from wherever it is asked for, and each
// of its rows is found by its number; none is where none was written.
func TestManyPacks(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	const packs = 2*manyPacks + 1
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	h := r.Host(quick{})
	for i := range packs {
		h.Emit(event.Event{Kind: event.Feedback, Path: "p", Text: fmt.Sprint(i)})
		if err := r.commit(); err != nil {
			t.Fatal(err)
		}
	}
	for _, after := range []int64{0, 1, manyPacks - 1, manyPacks, manyPacks + 1, packs} {
		seq := after
		for e, err := range j.Events(t.Context(), "run", after, Whole) {
			if seq++; err != nil || e.Seq != seq || e.Text != fmt.Sprint(seq-1) {
				t.Fatalf("behind %d: got %+v, %v", after, e, err)
			}
		}
		if seq != packs {
			t.Errorf("behind %d it ends at %d", after, seq)
		}
	}
	err := j.reading(t.Context(), func(c *conn) error {
		last, _, err := j.lastRow(t.Context(), c, r.n)
		for row := range last + 3 {
			l, ok, err := j.rowAt(t.Context(), c, r.n, row)
			if there := row > 0 && row <= last; err != nil || ok != there || there && l.row != row {
				t.Errorf("row %d of %d: got %v, %+v, %v", row, last, ok, l, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
