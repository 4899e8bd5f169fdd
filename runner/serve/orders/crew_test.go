package orders

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// A slow journal takes its time to say that it has a run, and here says no.
type slow struct {
	runner.Journal
	asked, say chan struct{}
}

var errFull = errors.New("the disk is full")

func (j *slow) Begin(runner.Start) (runner.Recording, error) {
	j.asked <- struct{}{}
	<-j.say
	return nil, errFull
}

// Who orders a run that is about to be begun waits for what becomes of that, as long as
// he likes, and has one begun himself where it has failed.
func TestWaitsForTheFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: c\nphases: [{name: a, compose: x}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &slow{asked: make(chan struct{}), say: make(chan struct{})}
	crew := NewCrew(CrewOptions{
		Journal: j, Cascades: map[string]string{"c": file},
		Runner: func(_ runner.Start, j runner.Journal) (*runner.Runner, error) {
			return runner.New(runner.WithJournal(j))
		},
	})
	said := make(chan error, 2)
	start := func() { _, err := crew.Start(t.Context(), Order{Cascade: "c", RunID: "a"}); said <- err }
	go start()
	<-j.asked
	impatient, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer leave()
	if _, err := crew.Start(impatient, Order{Cascade: "c", RunID: "a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want to be let go", err)
	}
	go start()
	select {
	case <-j.asked:
		t.Error("two begin the same run")
	case <-time.After(20 * time.Millisecond):
	}
	j.say <- struct{}{}
	<-j.asked // the second, on its own
	j.say <- struct{}{}
	for range 2 {
		if err := <-said; !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
	}
}
