package backtest_test

import (
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

type transcript struct {
	cascade *cascades.Cascade
	store   *store
}

var ran map[string]transcript // once for all tests

// transcripts runs every transcript of the engine.
func transcripts(t *testing.T) map[string]transcript {
	t.Helper()
	if ran != nil {
		return ran
	}
	list := map[string]transcript{}
	for _, story := range append(storytest.Stories(t), storytest.RandomStories(t, 60)...) {
		s := &store{ids: []string{"run"}, events: map[string][]event.Event{}}
		keep := event.Func(func(e event.Event) { s.events["run"] = append(s.events["run"], e) })
		engine.Run(story.Host(t, runner.WithSink(keep)), story.Cascade, story.Start())
		list[story.Name] = transcript{story.Cascade, s}
	}
	ran = list
	return list
}
