package enginetest

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// What holds of the stories that were written holds of those that nobody has: what is
// promised of events, that a run goes on from every place where it may, to the same
// end, and that no more is asked than the plan says.
func FuzzRandom(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	here := func(testing.TB, *Story) Start {
		return func(world engine.Host, run func(engine.Host)) { run(world) }
	}
	kept := func(testing.TB, *Story) Start {
		j := NewJournal()
		return func(world engine.Host, run func(engine.Host)) { run(&Recorder{Host: world, Journal: j}) }
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		text := random(seed)
		defer func() {
			if t.Failed() {
				t.Logf("%s", text)
			}
		}()
		s := Read(t, "random", text).told(t)
		for line := range strings.Lines(s.Want()) {
			if strings.HasPrefix(line, "PROMISE BROKEN") || strings.HasPrefix(line, "NOT TOLD") {
				t.Error(line)
			}
		}
		events := planned(t, s)
		if len(events) > 500 {
			t.Skip("it takes minutes to break it off everywhere")
		}
		f := inOrder(t, s, here)
		goneOnWith(t, s, here, f)
		goneOnWith(t, s, kept, f)
		brokenOff(t, s, kept, f)
	})
}

// planned sees that no more was asked of models than the plan says, which counts an
// answer that is none once.
func planned(t *testing.T, s *Story) []event.Event {
	told := s.begin(t)
	_, _ = engine.Run(told.world, s.Cascade, s.Start())
	calls := 0
	for _, e := range told.events {
		if e.Kind == event.ModelReplied && e.Response.Failure == nil && e.Response.Text != "nonsense" {
			calls++
		}
	}
	if most := s.Cascade.Plan().Total.ModelCallsWithTools; calls > int(most) {
		t.Errorf("models were asked %d times, planned are %d", calls, most)
	}
	return told.events
}
