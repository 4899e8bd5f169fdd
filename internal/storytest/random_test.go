package storytest

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// Generated stories have the properties of the written ones: the invariants of
// events, the same end after a resumption at every possible place, and no more
// requests than planned.
func FuzzRandom(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	here := func(testing.TB, *Story) Start {
		return func(world engine.Host, run func(engine.Host)) { run(world) }
	}
	keeping := func(testing.TB, *Story) Start {
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
		s := Read(t, "random", text).recorded(t)
		for line := range strings.Lines(s.Want()) {
			if strings.HasPrefix(line, "PROMISE BROKEN") || strings.HasPrefix(line, "NOT TOLD") {
				t.Error(line)
			}
		}
		events := checkPlan(t, s)
		if len(events) > 500 {
			t.Skip("it takes minutes to break it off everywhere")
		}
		f := inOrder(t, s, here)
		resumeElsewhere(t, s, here, f)
		resumeElsewhere(t, s, keeping, f)
		interrupt(t, s, keeping, f)
	})
}

// checkPlan checks that the run made no more requests than the plan, which
// counts an unreadable answer once.
func checkPlan(t *testing.T, s *Story) []event.Event {
	live := s.newLiveRun(t)
	_, _ = engine.Run(live.world, s.Cascade, s.Start())
	calls := 0
	for _, e := range live.events {
		if e.Kind == event.ModelReplied && e.Response.Failure == nil && e.Response.Text != "nonsense" {
			calls++
		}
	}
	if most := s.Cascade.Plan("", nil).Total.ModelCallsWithTools; calls > int(most) {
		t.Errorf("models were asked %d times, planned are %d", calls, most)
	}
	return live.events
}
