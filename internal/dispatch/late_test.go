package dispatch_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/internal/dispatch"
)

// TestDispatcherDeliverToEarlierAttempt checks that a response to an earlier attempt does not
// settle a later one.
func TestDispatcherDeliverToEarlierAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New(dispatch.Config{})
		defer d.Close()
		r := asked(t, ask("a"))
		time.Sleep(500 * time.Millisecond)
		at := func(stamp time.Time, layout string, event dispatch.Event, attempt int) {
			t.Helper()
			got, err := d.Deliver(text(t, with(answer("PASS", "a", "PASS"), object{"timestamp": stamp.Format(layout)})))
			if err != nil || got.Event != event || got.Attempt != attempt || got.Judgement.Valid != (event == dispatch.Accepted) {
				t.Errorf("%s: got %+v %v", stamp, got, err)
			}
		}
		first := time.Now()
		for attempt, stamp := range []time.Duration{time.Second, -time.Second, 700 * time.Second, 0} {
			if _, err := d.Open(r); err != nil {
				t.Fatal(err)
			}
			switch attempt {
			case 0: // nobody answers in time
				time.Sleep(301 * time.Second)
			case 1: // late responses of the first validator, then one from a validator whose clock is slow
				at(first.Add(200*time.Second), time.RFC3339, dispatch.Late, 2)
				at(first.Add(300*time.Second), time.RFC3339Nano, dispatch.Late, 2)
				if s, err := d.Status("task-1"); err != nil || !s.Open {
					t.Errorf("got %+v %v", s, err)
				}
				at(first.Add(stamp), time.RFC3339, dispatch.Accepted, 2)
			case 2: // a response from the future
				at(first.Add(stamp), time.RFC3339, dispatch.Accepted, 3)
				time.Sleep(time.Second)
			case 3: // whole seconds, in the second that opened the attempt
				at(time.Now(), time.RFC3339, dispatch.Accepted, 4)
			}
		}
		if got := events(t, d, "task-1"); !strings.Contains(got, "opened/2 late/2 late/2 accepted/2") {
			t.Errorf("got %s", got)
		}
	})
}
