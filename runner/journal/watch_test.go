package journal

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A stuck host answers when the test allows it.
type stuck struct {
	quick
	let chan bool
}

func (s stuck) Model(event.Path, model.Request) (model.Response, error) {
	<-s.let
	return model.Response{Text: "at last"}, nil
}

// A watcher is notified of new rows, and can read the rows before an effect
// during the effect.
func TestWatch(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	reported, others := make(chan bool, 100), 0
	stop := j.Watch("run", func() { reported <- true })
	defer j.Watch("other", func() { others++ })()
	r := begin(t, j, runner.Start{RunID: "run"})
	let, made := make(chan bool), make(chan bool)
	go func() {
		newTalker(r.Host(stuck{let: let}), "run", "hi").take(t)
		close(made)
	}()
	for len(eventsOf(t, j, "run", News)) < 5 { // the last is the call
		<-reported
	}
	close(let)
	<-made
	for len(reported) > 0 {
		<-reported
	}
	if err := r.End(engine.Result{Status: engine.Succeeded}, nil); err != nil || len(reported) == 0 {
		t.Fatalf("reported %d times that it has ended: %v", len(reported), err)
	}
	for run, err := j.Run(t.Context(), "run"); run.Status != engine.Succeeded || err != nil; run, err = j.Run(t.Context(), "run") {
		<-reported
	}
	for len(reported) > 0 {
		<-reported
	}
	stop()
	stop()
	again := begin(t, j, runner.Start{RunID: "again"})
	newTalker(again.Host(quick{"hi"}), "again", "hi").take(t)
	if len(reported) > 0 || others > 0 || len(j.watchers.byRun) != 1 {
		t.Errorf("%d, %d told; %d watched", len(reported), others, len(j.watchers.byRun))
	}
}

// Even a single event is written soon, and nothing is written without a row.
func TestLater(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		j := journalAt(t, file, Options{})
		defer j.Close()
		r := begin(t, j, runner.Start{RunID: "run"})
		if err := r.(*recording).commit(); err != nil {
			t.Fatal(err)
		}
		b := breaking(j)
		if _, err := r.Host(slow{}).Model("p/model", model.Request{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(soon)
		if all := b.statements(); len(all) != 3 { // begin, insert and commit, after the call
			t.Errorf("nothing is written by %q", all)
		}
		r.Host(quick{}).Emit(event.Event{Kind: event.PhaseFinished, Path: "p"})
		if time.Sleep(soon); len(eventsOf(t, j, "run", News)) != 1 {
			t.Error("one row is not written until another comes")
		}
	})
}
