package journal

import (
	"path/filepath"
	"testing"

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
		t.Fatalf("told %d times that it has ended: %v", len(reported), err)
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

// Even a single event is written soon.
func TestLater(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	waits := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.scheduleWrite()
		return r.timer != nil
	}
	if err := r.commit(); err != nil || waits() {
		t.Errorf("it waits for nothing, %v", err)
	}
	r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p"})
	if !waits() {
		t.Error("one row is not written until another comes")
	}
}
