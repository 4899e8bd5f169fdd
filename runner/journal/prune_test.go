package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// calendar is a clock that tests set.
type calendar struct{ at time.Time }

func (c *calendar) now() time.Time { return c.at }

// saidRun stores a run with one call that returns a text.
func saidRun(t *testing.T, j *Journal, id, text string, end engine.Result, start runner.Start) {
	t.Helper()
	start.RunID, start.CascadeID = id, "c"
	r := begin(t, j, start)
	h := r.Host(quick{text})
	req := model.Request{Messages: []model.Message{{Role: model.User, Content: "Say it."}}}
	h.Emit(event.Event{Kind: event.ModelCalled, Path: "p/model", Request: &req})
	resp, err := h.Model("p/model", req)
	if err != nil {
		t.Fatal(err)
	}
	h.Emit(event.Event{Kind: event.ModelReplied, Path: "p/model", Response: &resp})
	end.RunID, end.CascadeID, end.Output = id, "c", resp.Text
	if err := r.End(end, nil); err != nil {
		t.Fatal(err)
	}
}

// saidBy returns the texts of a run and fails if one is missing.
func saidBy(t *testing.T, j *Journal, id string) string {
	t.Helper()
	result, err := j.Result(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range eventsOf(t, j, id, Whole) {
		if e.Response != nil && e.Response.Text != result.Output {
			t.Errorf("run %s: %q and %q", id, e.Response.Text, result.Output)
		}
	}
	text, _ := result.Output.(string)
	return text
}

func names(t *testing.T, j *Journal) (list []string) {
	t.Helper()
	runs, err := j.Runs(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range runs {
		list = append(list, s.RunID)
	}
	slices.Sort(list)
	return list
}

func long20(said string) string { return strings.Repeat(said+" says so. ", 2000) }

// Prune removes only old runs and their unshared texts.
func TestPrune(t *testing.T) {
	oneByOne(t)
	file := filepath.Join(t.TempDir(), "j.db")
	clock := &calendar{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	j := journalAt(t, file, Options{Now: clock.now})
	done := engine.Result{Status: engine.Succeeded}
	for i := range 20 {
		saidRun(t, j, fmt.Sprintf("old%d", i), long20(fmt.Sprint(i)), done, runner.Start{})
	}
	saidRun(t, j, "shared", long20("both"), done, runner.Start{})
	clock.at = clock.at.Add(100 * 24 * time.Hour)
	saidRun(t, j, "new", long20("both"), done, runner.Start{})
	texts := func() int64 {
		got, err := j.Query(t.Context(), "SELECT count(*) FROM text", 0)
		if err != nil {
			t.Fatal(err)
		}
		return got.Rows[0][0].(int64)
	}
	had, before := texts(), names(t, j)
	p := Pruning{Before: clock.at.Add(-90 * 24 * time.Hour), DryRun: true}
	dry, err := j.Prune(t.Context(), p)
	if err != nil || len(dry.Runs) != 21 || dry.Runs[0] != "old0" || !slices.Equal(names(t, j), before) || texts() != had {
		t.Fatalf("a dry run: %+v, %v", dry, err)
	}
	p.DryRun = false
	got, err := j.Prune(t.Context(), p)
	if err != nil || !slices.Equal(got.Runs, dry.Runs) || got.Texts != 20 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if onServer == nil && (got.After > got.Before-20*20_000 || got.Free != 0) {
		t.Errorf("the room was not given back: %+v", got) // a server keeps it for reuse
	}
	if list := names(t, j); !slices.Equal(list, []string{"new"}) {
		t.Errorf("there are %v", list)
	}
	if saidBy(t, j, "new") != long20("both") {
		t.Error("a run that stayed lost its text")
	}
	if again, err := j.Prune(t.Context(), p); err != nil || len(again.Runs) != 0 || again.Texts != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	j.Close()
	if onServer != nil {
		return
	}
	if info, err := os.Stat(file); err != nil || info.Size() > got.After || beside(t, file) >= 0 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// Runs of the kinds to keep stay. Running and needed runs always stay.
func TestPruneKeeps(t *testing.T) {
	clock := &calendar{time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	fill := func(t *testing.T) *Journal {
		j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Now: clock.now, noSync: true})
		done := engine.Result{Status: engine.Succeeded}
		saidRun(t, j, "done", "a", done, runner.Start{})
		saidRun(t, j, "frozen", "a", done, runner.Start{})
		if err := errors.Join(j.Mark(t.Context(), "frozen", Frozen), j.Mark(t.Context(), "frozen", Frozen)); err != nil {
			t.Fatal(err)
		}
		saidRun(t, j, "waits", "a", engine.Result{Status: engine.Waiting}, runner.Start{})
		saidRun(t, j, "root", "a", done, runner.Start{})
		saidRun(t, j, "parent", "a", done, runner.Start{Parent: "root", From: "p"})
		saidRun(t, j, "child", "a", engine.Result{Status: engine.Failed, Error: &event.Error{Code: engine.Failed}}, runner.Start{Parent: "parent", From: "p"})
		saidRun(t, j, "answers", "a", done, runner.Start{})
		saidRun(t, j, "answered", "a", done, runner.Start{Model: "replay:done"})
		saidRun(t, j, "replays", "a", engine.Result{Status: engine.Waiting}, runner.Start{Model: "m\nold=replay:answers"})
		begin(t, j, runner.Start{RunID: "runs"})
		begin(t, j, runner.Start{RunID: "gone"})
		elsewhere(t, j, "gone")
		return j
	}
	for _, c := range []struct {
		keep  []string
		takes bool
		want  string
	}{
		{nil, false, "gone runs"},
		{nil, true, "runs"},
		{[]string{Frozen}, true, "frozen runs"},
		{[]string{engine.Waiting}, true, "answers replays runs waits"},
		{[]string{Labelled}, true, "done runs"},
		{[]string{Labelled, Frozen}, true, "done frozen runs"},
		{[]string{"unfinished", Frozen}, true, "answers child frozen gone parent replays root runs waits"},
	} {
		j := fill(t)
		j.db.Options.TakeOver = c.takes
		if onServer != nil && c.takes {
			continue // a server decides by leases
		}
		got, err := j.Prune(t.Context(), Pruning{Before: clock.at.Add(time.Hour), Keep: c.keep, Labelled: map[string]bool{"done": true}})
		if list := strings.Join(names(t, j), " "); err != nil || list != c.want || got.Retained != len(strings.Fields(c.want)) {
			t.Errorf("keep %v: there are %s, want %s; %+v, %v", c.keep, list, c.want, got, err)
		}
	}
	j := fill(t)
	if _, err := j.Prune(t.Context(), Pruning{Keep: []string{"labeled"}}); err == nil || !strings.Contains(err.Error(), "frozen") {
		t.Errorf("an unknown kind: %v", err)
	}
	if got, err := j.Prune(t.Context(), Pruning{Before: clock.at}); err != nil || len(got.Runs) != 0 {
		t.Errorf("nothing is old: %+v, %v", got, err)
	}
}

// A pausing link calls a function before a transaction of a writer.
type pausing struct {
	stores.Link
	left int
	then func()
}

func (p *pausing) count(text string) {
	if !strings.HasPrefix(text, "BEGIN") {
		return
	}
	if p.left--; p.left == 0 {
		p.then()
	}
}

func (p *pausing) Exec(text string, args ...any) (int64, error) {
	p.count(text)
	return p.Link.Exec(text, args...)
}

func (p *pausing) Send(when postgres.Order, row func([]driver.Value) error, text string, args ...any) error {
	p.count(text)
	return p.Link.Send(when, row, text, args...)
}

// beforeTransaction calls a function before the k-th following transaction of a journal.
func beforeTransaction(j *Journal, k int, then func()) *pausing {
	p := &pausing{Link: j.db.Writer.C.Link, left: k, then: then}
	j.db.Writer.C.Link = p
	return p
}

// twoAt returns two journals of the same store.
func twoAt(t *testing.T) (one, other *Journal) {
	file := filepath.Join(t.TempDir(), "j.db")
	return journalAt(t, file, Options{noSync: true}), journalAt(t, file, Options{noSync: true})
}

// A run stays if it was marked or resumed between the listing and the removal. Its
// parents stay, and the parents of new runs stay too.
func TestPruneMeanwhile(t *testing.T) {
	done, failed := engine.Result{Status: engine.Succeeded}, engine.Result{Status: engine.Failed, Error: &event.Error{Code: engine.Failed}}
	for _, c := range []struct {
		name, stay string
		then       func(t *testing.T, j *Journal)
	}{
		{"nothing", "", func(*testing.T, *Journal) {}},
		{"frozen", "parent root", func(t *testing.T, j *Journal) {
			if err := j.Mark(t.Context(), "parent", Frozen); err != nil {
				t.Fatal(err)
			}
		}},
		{"gone on with", "child parent root", func(t *testing.T, j *Journal) { reopen(t, j, "child") }},
		{"shared with", "new parent root", func(t *testing.T, j *Journal) { begin(t, j, runner.Start{RunID: "new", Parent: "parent"}) }},
		{"shared with and over", "new", func(t *testing.T, j *Journal) {
			saidRun(t, j, "new", "a", done, runner.Start{Parent: "parent"})
		}},
		{"gone and there anew", "other", func(t *testing.T, j *Journal) {
			if _, err := j.Prune(t.Context(), Pruning{Before: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			begin(t, j, runner.Start{RunID: "other"})
			if err := j.Mark(t.Context(), "other", Frozen); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, other := twoAt(t)
			saidRun(t, j, "root", long20("root"), failed, runner.Start{})
			saidRun(t, j, "parent", long20("parent"), failed, runner.Start{Parent: "root"})
			saidRun(t, j, "child", long20("child"), failed, runner.Start{Parent: "parent"})
			p := Pruning{Before: time.Now(), Keep: []string{Frozen}, DryRun: true}
			if list, err := j.Prune(t.Context(), p); err != nil || len(list.Runs) != 3 {
				t.Fatal(list, err)
			}
			p.DryRun = false
			paused := beforeTransaction(j, 1, func() { c.then(t, other) })
			got, err := j.Prune(t.Context(), p)
			if paused.left > 0 || err != nil {
				t.Fatal(got, err)
			}
			if left := strings.Join(names(t, j), " "); left != c.stay {
				t.Errorf("there are %q, want %q; gone are %v", left, c.stay, got.Runs)
			}
		})
	}
}

// A run that shares is removed before its parent, so that an interrupted
// pruning leaves no run without its parent.
func TestPruneBrokenOff(t *testing.T) {
	failed := engine.Result{Status: engine.Failed, Error: &event.Error{Code: engine.Failed}}
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{noSync: true})
	saidRun(t, j, "parent", "a", failed, runner.Start{})
	saidRun(t, j, "child", "a", failed, runner.Start{Parent: "parent"})
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	j.db.Writer.Before = func() error {
		if n++; n == 2 { // the first statement takes the turn
			stop()
		}
		return nil
	}
	got, err := j.Prune(ctx, Pruning{Before: time.Now().Add(time.Hour)})
	if list := names(t, j); !errors.Is(err, context.Canceled) || !slices.Equal(list, []string{"parent"}) || !slices.Equal(got.Runs, []string{"child"}) {
		t.Errorf("there are %v; %+v, %v", list, got, err)
	}
}

// A run whose parent was pruned by an old version still exists, but cannot be
// resumed: it would repeat the effects of its parent.
func TestParentIsGone(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{noSync: true})
	failed := engine.Result{Status: engine.Failed, Error: &event.Error{Code: engine.Failed}}
	saidRun(t, j, "parent", "a", failed, runner.Start{})
	saidRun(t, j, "child", "a", failed, runner.Start{Parent: "parent"})
	if err := j.db.Writer.Do(func(c *stores.Conn) error { return c.Queue("DELETE FROM run WHERE n = 1") }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := j.Reopen("child"); errors.Is(err, runner.ErrNoRun) || !strings.Contains(fmt.Sprint(err), "run parent, which is not kept any more") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := j.Begin(runner.Start{RunID: "new", Parent: "parent"}); !errors.Is(err, runner.ErrNoRun) {
		t.Errorf("a new one: %v", err)
	}
}

// If a text was removed, a process that had written it before writes it again.
func TestPruneBesideAWriter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	writes, prunes := journalAt(t, file, Options{noSync: true}), journalAt(t, file, Options{noSync: true})
	done := engine.Result{Status: engine.Succeeded}
	later := Pruning{Before: time.Now().Add(time.Hour)}
	for i := range 5 {
		saidRun(t, writes, fmt.Sprint("run", i), long20("the same"), done, runner.Start{})
		if saidBy(t, writes, fmt.Sprint("run", i)) != long20("the same") {
			t.Error("the text is not there")
		}
		if got, err := prunes.Prune(t.Context(), later); err != nil || len(got.Runs) != 1 || got.Texts != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	stop := make(chan struct{})
	pruned := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				pruned <- nil
				return
			default:
			}
			if _, err := prunes.Prune(t.Context(), Pruning{Before: time.Now().Add(time.Hour), Keep: []string{Frozen}}); err != nil {
				pruned <- err
				return
			}
		}
	}()
	for i := range 60 {
		id, words := fmt.Sprint("beside", i), long20(fmt.Sprint(i%3))
		r := begin(t, writes, runner.Start{RunID: id, Input: map[string]any{"text": words}})
		if err := writes.Mark(t.Context(), id, Frozen); err != nil {
			t.Fatal(err)
		}
		resp, err := r.Host(quick{words}).Model("p/model", model.Request{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.End(engine.Result{RunID: id, Status: engine.Succeeded, Output: resp.Text}, nil); err != nil {
			t.Fatal(err)
		}
		run, err := writes.Run(t.Context(), id)
		if err != nil || run.Start.Input["text"] != words || saidBy(t, writes, id) != words {
			t.Fatalf("run %d: %v", i, err)
		}
	}
	close(stop)
	if err := <-pruned; err != nil {
		t.Error(err)
	}
	for i := range 60 {
		if saidBy(t, writes, fmt.Sprint("beside", i)) != long20(fmt.Sprint(i%3)) {
			t.Errorf("run %d lost its text", i)
		}
	}
}

// A text that a row, a start, a result or a question names between the search
// and the removal stays.
func TestNamedMeanwhile(t *testing.T) {
	oneByOne(t)
	for name, say := range map[string]func(t *testing.T, j *Journal, open runner.Recording){
		"row": func(t *testing.T, j *Journal, _ runner.Recording) {
			begin(t, j, runner.Start{RunID: "new"}).Host(quick{long20("it")}).Model("p/model", model.Request{})
		},
		"start": func(t *testing.T, j *Journal, _ runner.Recording) {
			begin(t, j, runner.Start{RunID: "new", Input: map[string]any{"text": long20("it")}})
		},
		"result": func(t *testing.T, _ *Journal, open runner.Recording) {
			if err := open.End(engine.Result{Status: engine.Succeeded, Output: long20("it")}, nil); err != nil {
				t.Fatal(err)
			}
		},
		"question": func(t *testing.T, _ *Journal, open runner.Recording) {
			if _, err := open.Host(quick{}).Ask("p", engine.Question{Prompt: long20("it"), Type: "text"}); !errors.Is(err, engine.ErrSuspended) {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, other := twoAt(t)
			open := begin(t, other, runner.Start{RunID: "open"})
			saidRun(t, j, "old", long20("it"), engine.Result{Status: engine.Succeeded}, runner.Start{})
			saidRun(t, j, "more", long20("more"), engine.Result{Status: engine.Succeeded}, runner.Start{})
			texts := func() int64 {
				t.Helper()
				got, err := j.Query(t.Context(), "SELECT count(*) FROM text", 0)
				if err != nil {
					t.Fatal(err)
				}
				return got.Rows[0][0].(int64)
			}
			before := texts()
			// The transactions before the removal of texts take the turn and remove two runs.
			paused := beforeTransaction(j, 4, func() { say(t, other, open) })
			got, err := j.Prune(t.Context(), Pruning{Before: time.Now().Add(time.Hour)})
			if err != nil || !slices.Equal(got.Runs, []string{"old", "more"}) || paused.left > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			for _, id := range names(t, j) {
				eventsOf(t, j, id, Whole)
				effectsOf(t, j, id)
				if _, err := j.Run(t.Context(), id); err != nil {
					t.Error(err)
				}
				if _, err := j.Result(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
			if n := texts(); n == 0 || n >= before {
				t.Errorf("of %d texts there are %d", before, n)
			}
		})
	}
}

// If two processes prune, the later one continues.
func TestPruneTwice(t *testing.T) {
	j, other := twoAt(t)
	saidRun(t, j, "run", long20("it"), engine.Result{Status: engine.Succeeded}, runner.Start{})
	later := Pruning{Before: time.Now().Add(time.Hour)}
	beforeTransaction(j, 2, func() { // the first one takes the turn
		if got, err := other.Prune(t.Context(), later); len(got.Runs) != 1 || err != nil {
			t.Errorf("the later one: %+v, %v", got, err)
		}
	})
	if got, err := j.Prune(t.Context(), later); len(got.Runs) > 0 || err == nil || !strings.Contains(err.Error(), "already pruning") {
		t.Errorf("it removed: %+v, %v", got, err)
	}
}

// A file returns its space while a run is active, and its pages are larger than
// SQLite's default.
func TestPruneBesideARun(t *testing.T) {
	onFile(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{noSync: true})
	for i := range 20 {
		saidRun(t, j, fmt.Sprint("run", i), long20(fmt.Sprint(i)), engine.Result{Status: engine.Succeeded}, runner.Start{})
	}
	begin(t, j, runner.Start{RunID: "busy"})
	got, err := j.Prune(t.Context(), Pruning{Before: time.Now().Add(time.Hour)})
	if err != nil || len(got.Runs) != 20 || got.Free > 0 || got.After >= got.Before {
		t.Errorf("%+v, %v", got, err)
	}
	if size, err := j.db.Writer.C.Number("PRAGMA page_size"); err != nil || size != 8192 {
		t.Errorf("pages of %d, %v", size, err)
	}
}
