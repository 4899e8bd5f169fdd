package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// A run of many packs is read completely from any start, and each row is found
// by its number.
func TestManyPacks(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	const packs = 100 // a read has several pages of packs
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	h := r.Host(quick{})
	for i := range packs {
		h.Emit(event.Event{Kind: event.Feedback, Path: "p", Text: fmt.Sprint(i)})
		if err := r.commit(); err != nil {
			t.Fatal(err)
		}
	}
	for after := range int64(packs + 1) {
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
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		last, _, err := j.lastRow(t.Context(), c, r.n)
		for row := range last + 3 {
			l, ok, err := j.rowAt(t.Context(), c, r.n, row)
			if there := row > 0 && row <= last; err != nil || ok != there || there && l.Row != row {
				t.Errorf("row %d of %d: got %v, %+v, %v", row, last, ok, l, err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The rows of a run are one list that can be read from any start, for some
// kinds, and up to any end, without those of other runs.
func TestRowsOfOneRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	tell := func(r runner.Recording, at event.Path, n int) {
		for range n {
			r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: at})
		}
		if err := r.(*recording).commit(); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range []string{"before", "run", "behind"} {
		tell(begin(t, j, runner.Start{RunID: id}), "p", 2+i)
	}
	j.Close()
	j = journalAt(t, file, Options{})
	ends := func(n, row, seq int64) {
		t.Helper()
		err := j.db.Read(t.Context(), func(c *stores.Conn) error {
			gotRow, gotSeq, err := j.lastRow(t.Context(), c, n)
			if gotRow != row || gotSeq != seq {
				t.Errorf("the last of run %d is row %d, event %d", n, gotRow, gotSeq)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range int64(3) {
		ends(n+1, 3+n, 2+n)
	}
	tell(reopen(t, j, "run"), "q", 2)
	const n, last = 2, 7 // the second run; two starts and five events
	ends(n, last, 5)
	rows := func(after int64, want func(string) bool, most int) (list []int64) {
		err := j.db.Read(t.Context(), func(c *stores.Conn) error {
			return j.eachRow(t.Context(), c, n, after, want, func(l codec.StoredRow) error {
				if list = append(list, l.Row); len(list) == most {
					return stores.ErrEnough
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	all := []int64{1, 2, 3, 4, 5, 6, 7}
	for i := range all {
		if got := rows(int64(i), nil, 0); !slices.Equal(got, all[i:]) {
			t.Errorf("behind %d: %v", i, got)
		}
		if got := rows(0, nil, i+1); !slices.Equal(got, all[:i+1]) {
			t.Errorf("up to %d: %v", i+1, got)
		}
	}
	if got := rows(0, func(kind string) bool { return kind == codec.ProcessStarts }, 0); !slices.Equal(got, []int64{1, 5}) {
		t.Errorf("starts: %v", got)
	}
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		for at := range int64(last + 2) {
			l, ok, err := j.rowAt(t.Context(), c, n, at)
			if there := at > 0 && at <= last; err != nil || ok != there || there && l.Row != at {
				t.Errorf("row %d: got %v, %+v, %v", at, ok, l, err)
			}
			if l.Kind == codec.ProcessStarts && l.JSON() != nil {
				t.Errorf("row %d says %q", at, l.JSON())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Any effect can be marked for a repetition, and other rows stay the same.
func TestDropRow(t *testing.T) {
	file, clock := filepath.Join(t.TempDir(), "j.db"), &calendar{time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	j := journalAt(t, file, Options{Now: func() time.Time { clock.at = clock.at.Add(time.Second); return clock.at }})
	if _, err := runnerOver(t, j, everyAnswer(), yes).Run(t.Context(), load(t, everyKind), nil, runner.WithRunID("first")); err != nil {
		t.Fatal(err)
	}
	h := begin(t, j, runner.Start{RunID: "second"}).Host(quick{"yes"})
	for _, at := range []event.Path{"p/attempt[1]", "p/attempt[2]"} { // the second pack begins with a finding that its verdict repeats
		_, first := h.Validate(at.Join("ward[0]"), engine.Validation{Pure: true})
		h.Emit(event.Event{Kind: event.VerdictGiven, Path: at.Join("ward[0]"), Verdict: &event.Verdict{Path: at.Join("ward[0]"), Valid: new(bool)}})
		_, second := h.Model(at.Join("model"), model.Request{})
		if err := errors.Join(first, second); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(n int64) (list []string, effects []int) {
		for i, l := range storedRows(t, j, n) {
			list = append(list, fmt.Sprintf("%d %d %d %d %s %s %x %s", l.Row, l.Seq, l.Time, l.Took, l.Path, l.JSON(), l.Fingerprint, l.Kind))
			if codec.IsEffect(l.Kind) {
				effects = append(effects, i)
			}
		}
		if len(effects) < 2 {
			t.Fatal(effects)
		}
		return list, effects
	}
	drop := func(n int64, i int) {
		want, _ := rows(n)
		if err := j.db.Writer.Do(func(c *stores.Conn) error { return j.dropRow(c, n, int64(i+1)) }); err != nil {
			t.Fatal(err)
		}
		want[i] = want[i][:strings.LastIndexByte(want[i], ' ')+1] + codec.DroppedEffect
		got, _ := rows(n)
		same(t, fmt.Sprintf("run %d without row %d", n, i+1), got, want)
	}
	_, first := rows(1)
	_, second := rows(2)
	drop(1, first[1])
	drop(2, second[3])
	drop(1, first[0])
}
