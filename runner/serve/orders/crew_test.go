package orders

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
)

// A busy journal's runs are somebody else's. No hand is let go for a while after it
// has said so.
type busy struct {
	runner.Journal
	crew *Crew
}

func (j *busy) Reopen(string) (runner.Recording, error) {
	j.crew.mu.Lock()
	time.AfterFunc(20*time.Millisecond, j.crew.mu.Unlock)
	return nil, runner.ErrRunBusy
}

// Who was told that a run cannot be had has nothing left of it that could be cancelled.
func TestRefusedIsGone(t *testing.T) {
	j := &busy{}
	j.crew = NewCrew(CrewOptions{
		Journal: j,
		Starts:  func(_ context.Context, id string) (runner.Start, error) { return runner.Start{RunID: id}, nil },
		Runner: func(_ runner.Start, j runner.Journal) (*runner.Runner, error) {
			return runner.New(runner.WithJournal(j))
		},
	})
	if err := j.crew.Resume(t.Context(), "a"); !errors.Is(err, runner.ErrRunBusy) {
		t.Fatalf("got %v", err)
	}
	if !j.crew.mu.TryLock() {
		t.Fatal("its hand is still there")
	}
	j.crew.mu.Unlock()
	if err := j.crew.Cancel("a"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("got %v of a run that was refused", err)
	}
}
