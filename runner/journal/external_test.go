package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// Two processes in turn store an external run with overlapping events. Other processes
// cannot take it.
func TestGuest(t *testing.T) {
	for _, s := range stories(t) {
		if s.Name != "pre_blocking" && s.Name != "human_yes" && s.Name != "soundings" && s.Name != "each" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) { guest(t, s) })
	}
}

func guest(t *testing.T, s *story) {
	where := filepath.Join(t.TempDir(), "j.db")
	one, two := journalAt(t, where, Options{}), journalAt(t, where, Options{TakeOver: true})
	var live collector
	result, _ := engine.Run(s.world(t, &live), s.Cascade, engine.State{RunID: "run", Input: s.Input, Last: s.Last})
	guests := []*ExternalRuns{one.External("Temporal"), two.External("Temporal")}
	for _, g := range guests {
		if err := g.Begin(s.start("run")); err != nil {
			t.Fatal(err)
		}
	}
	for i, e := range live.events {
		for k, g := range guests {
			if k == 1 && i%2 == 0 {
				continue
			}
			e.Run, e.Seq, e.Time = "run", int64(i+1), time.Now()
			if err := g.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		if list, err := two.Runs(t.Context(), Filter{}); i == 0 && (err != nil || len(list) != 1 || list[0].Status != Running || list[0].Owner != "Temporal") {
			t.Fatalf("got %+v, %v", list, err)
		}
	}
	if lost, err := two.Abandoned(t.Context()); err != nil || len(lost) > 0 {
		t.Errorf("got %v, %v", lost, err)
	}
	if err := guests[0].Append(event.Event{Run: "run", Seq: int64(len(live.events) + 2), Kind: event.PhaseStarted}); err == nil || !strings.Contains(err.Error(), "comes after") {
		t.Errorf("after a gap: %v", err)
	}
	for range 2 {
		if err := guests[1].End("run", result); err != nil {
			t.Fatal(err)
		}
	}
	stored := eventsOf(t, one, "run", Whole)
	storytest.Same(t, "transcript", transcriptOf(t, stored, result), transcriptOf(t, live.events, result))
	same(t, "requests", requests(stored), requests(live.events))
	from, err := one.Result(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "result", from, result)
	if run, err := two.Run(t.Context(), "run"); err != nil || run.Status != result.Status || int(run.Events) != len(live.events) || run.Usage.Calls != result.Usage.Calls || len(run.Start.Files) == 0 {
		t.Errorf("got %+v, %v", run, err)
	}
	if _, err := two.Reopen("run"); !errors.Is(err, runner.ErrRunBusy) || !strings.Contains(err.Error(), "another engine continues it") {
		t.Errorf("gone on with: %v", err)
	}
	begin(t, one, runner.Start{RunID: "own"})
	if err := guests[0].Begin(runner.Start{RunID: "own"}); !errors.Is(err, runner.ErrRunExists) {
		t.Errorf("one that is the journal's own: %v", err)
	}
}

// A run that its engine ended without a report is shown as ended, with the
// reason and its result so far. Other runs stay unchanged.
func TestGuestIsGone(t *testing.T) {
	where := filepath.Join(t.TempDir(), "j.db")
	one, two := journalAt(t, where, Options{}), journalAt(t, where, Options{})
	guest := one.External("Temporal")
	started := []event.Event{
		{Kind: event.RunStarted, RunID: "run", CascadeID: "c"}, {Kind: event.PhaseStarted, Path: "a", Phase: "a"},
		{Kind: event.PhaseFinished, Path: "a", Phase: "a", Status: engine.Succeeded, Output: "x"}, {Kind: event.PhaseStarted, Path: "b", Phase: "b"},
	}
	if err := guest.Begin(runner.Start{RunID: "run", CascadeID: "c"}); err != nil {
		t.Fatal(err)
	}
	for i, e := range started {
		e.Run, e.Seq, e.Time = "run", int64(i+1), time.Now()
		if err := guest.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := guest.SetWaiting("run", []engine.Asked{{Path: "b/human_input", Question: engine.Question{Phase: "b", Prompt: "?"}}}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	cause := func() (*event.Error, error) {
		asked++
		return &event.Error{Code: engine.Cancelled, Message: "terminated by kim"}, nil
	}
	if err := guest.EndLost("run", func() (*event.Error, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if run, err := two.Run(t.Context(), "run"); err != nil || run.Status != engine.Waiting {
		t.Errorf("one that goes on is %+v, %v", run, err)
	}
	if err := guest.EndLost("run", func() (*event.Error, error) { return nil, errors.New("out of reach") }); err == nil {
		t.Error("that nobody can say why is no error")
	}
	for _, g := range []*ExternalRuns{guest, two.External("Temporal")} {
		if err := g.EndLost("run", cause); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(guest.EndLost("ru", cause), guest.EndLost("nowhere", cause)); err != nil {
		t.Error(err)
	}
	begin(t, one, runner.Start{RunID: "own"})
	if err := guest.EndLost("own", cause); err != nil || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if run, err := two.Run(t.Context(), "own"); err != nil || run.Status != Running {
		t.Errorf("the journal's own is %+v, %v", run, err)
	}
	run, err := two.Run(t.Context(), "run")
	if err != nil || run.Status != engine.Cancelled || run.Error == nil || run.Error.Message != "terminated by kim" || run.Finished == nil || run.Pending != nil || run.Events != int64(len(started)+1) {
		t.Errorf("got %+v, %v", run, err)
	}
	if r, err := two.Result(t.Context(), "run"); err != nil || r.Status != engine.Cancelled || r.Outputs["a"] != "x" || r.Error == nil {
		t.Errorf("got %+v, %v", r, err)
	}
	if all := eventsOf(t, two, "run", Whole); len(all) != len(started)+1 || all[len(started)].Kind != event.RunFinished {
		t.Errorf("reported %+v", all)
	}
}

// Blobs are stored once each, with any content.
func TestParcels(t *testing.T) {
	oneByOne(t)
	where := filepath.Join(t.TempDir(), "j.db")
	one, two := journalAt(t, where, Options{}).Blobs(), journalAt(t, where, Options{})
	for _, text := range []string{"", "a\x00b\xff", strings.Repeat("50 MB ", 50<<20/6), "\U0010FFFF0"} {
		digest, err := one.Put([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := two.Blobs().Put([]byte(text)); err != nil || again != digest {
			t.Errorf("got %s, %v", again, err)
		}
		if got, err := two.Blobs().Get(digest); err != nil || string(got) != text {
			t.Errorf("%.20q reads as %.20q: %v", text, got, err)
		}
		err = two.db.Writer.Do(func(c *stores.Conn) error {
			_, err := c.Exec("UPDATE blob SET text = ? WHERE digest = ?", []byte("another"), digest)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := one.Get(digest); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("what is damaged reads as %.20q, %v", got, err)
		}
	}
	if _, err := one.Get("none"); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("got %v", err)
	}
}

// Blobs are removed when no run can need them. A running external run, or one
// that ended within the time limit, keeps all blobs put since a day before its
// start, by any run.
func TestParcelsArePruned(t *testing.T) {
	clock := &calendar{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	day := func(n int) { clock.at = time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: clock.now})
	blobs, g := j.Blobs(), j.External("Temporal")
	put := func(text string) {
		if _, err := blobs.Put([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(id string) {
		if err := g.Begin(runner.Start{RunID: id, CascadeID: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	end := func(id string) {
		if err := g.End(id, engine.Result{RunID: id, CascadeID: "c", Status: engine.Succeeded}); err != nil {
			t.Fatal(err)
		}
	}
	prune := func(before int, keep ...string) int {
		done, err := j.Prune(t.Context(), Pruning{Before: time.Date(2026, 1, before, 0, 0, 0, 0, time.UTC), Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		return done.Texts
	}
	there := func(texts ...string) {
		t.Helper()
		for _, text := range []string{"first", "shared", "second", "now"} {
			_, err := blobs.Get(sha256Of(text))
			if want := slices.Contains(texts, text); (err == nil) != want {
				t.Errorf("%s: %v, want it there: %v", text, err, want)
			}
		}
	}
	run("one")
	put("first")
	put("shared")
	day(10)
	run("two")
	put("shared")
	put("second")
	day(11)
	end("one")
	day(20)
	put("now")
	if n := prune(20, "unfinished"); n != 1 {
		t.Errorf("%d went", n)
	}
	there("shared", "second", "now") // run two continues
	end("two")
	if n := prune(20); n != 0 {
		t.Errorf("%d went", n)
	}
	there("shared", "second", "now") // it ended within the time limit
	day(21)
	if n := prune(21); n != 2 {
		t.Errorf("%d went", n)
	}
	there("now")
	day(20)
	prune(31)
	there("now") // a run may have been ordered with it
}

func sha256Of(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
