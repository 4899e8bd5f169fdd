package journal

import (
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A stuck host answers when it is let.
type stuck struct {
	quick
	let chan bool
}

func (s stuck) Model(event.Path, model.Request) (model.Response, error) {
	<-s.let
	return model.Response{Text: "at last"}, nil
}

// Who watches a run is told when there is something to read, and reads what goes
// before an effect while the effect is being made.
func TestWatch(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	told, others := make(chan bool, 100), 0
	stop := j.Watch("run", func() { told <- true })
	defer j.Watch("other", func() { others++ })()
	r := begin(t, j, runner.Start{RunID: "run"})
	let, made := make(chan bool), make(chan bool)
	go func() {
		newTalker(r.Host(stuck{let: let}), "run", "hi").take(t)
		close(made)
	}()
	for len(eventsOf(t, j, "run", News)) < 5 { // the last is the call
		<-told
	}
	close(let)
	<-made
	for len(told) > 0 {
		<-told
	}
	if err := r.End(engine.Result{Status: engine.Succeeded}, nil); err != nil || len(told) == 0 {
		t.Fatalf("told %d times that it has ended: %v", len(told), err)
	}
	for run, err := j.Run(t.Context(), "run"); run.Status != engine.Succeeded || err != nil; run, err = j.Run(t.Context(), "run") {
		<-told
	}
	for len(told) > 0 {
		<-told
	}
	stop()
	stop()
	again := begin(t, j, runner.Start{RunID: "again"})
	newTalker(again.Host(quick{"hi"}), "again", "hi").take(t)
	if len(told) > 0 || others > 0 || len(j.watchers.of) != 1 {
		t.Errorf("%d, %d told; %d watched", len(told), others, len(j.watchers.of))
	}
}

// What was told is written in a moment where there is something, be it one row.
func TestLater(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	waits := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.later()
		return r.soon != nil
	}
	if err := r.commit(); err != nil || waits() {
		t.Errorf("it waits for nothing, %v", err)
	}
	r.Host(quick{}).Emit(event.Event{Kind: event.Feedback, Path: "p"})
	if !waits() {
		t.Error("one row is not written until another comes")
	}
}
