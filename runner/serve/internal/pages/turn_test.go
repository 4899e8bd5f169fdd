package pages

import (
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestTurnsThatAsk checks that a turn has a duration only after its model has answered.
func TestTurnsThatAsk(t *testing.T) {
	start := time.Now()
	for name, row := range map[string]struct {
		answer *model.Response
		over   bool
		took   time.Duration
	}{
		"asking":                       {nil, false, 0},
		"answered":                     {&model.Response{Text: "Owls."}, false, time.Second},
		"never answered, and given up": {nil, true, time.Second},
	} {
		turn := &trace.Turn{Started: start, Finished: start.Add(time.Second), Calls: []*trace.Call{{Path: event.Path("draft"), Response: row.answer}}}
		if got := newTurn("one", &trace.Phase{Started: start}, turn, row.over).Took; got != row.took {
			t.Errorf("%s: got %v, want %v", name, got, row.took)
		}
	}
}
