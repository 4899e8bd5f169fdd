package orders

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A busy journal belongs to another process.
type busy struct {
	Store
	pool *Pool
}

func (j *busy) Run(_ context.Context, id string) (*journal.Run, error) {
	return &journal.Run{Start: runner.Start{RunID: id}}, nil
}

func (j *busy) Reopen(string) (runner.Recording, error) {
	j.pool.mu.Lock()
	time.AfterFunc(20*time.Millisecond, j.pool.mu.Unlock)
	return nil, runner.ErrRunBusy
}

// TestRefusedIsGone checks that a refused run has no job left.
func TestRefusedIsGone(t *testing.T) {
	j := &busy{}
	j.pool = NewPool(PoolOptions{
		Store: j,
		Runner: func(_ runner.Start, j runner.Journal) (*runner.Runner, error) {
			return runner.New(runner.WithJournal(j))
		},
	})
	if err := j.pool.Resume(t.Context(), "a"); !errors.Is(err, runner.ErrRunBusy) {
		t.Fatalf("got %v", err)
	}
	if !j.pool.mu.TryLock() {
		t.Fatal("its job is still there")
	}
	j.pool.mu.Unlock()
	if err := j.pool.Cancel("a"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("got %v of a run that was refused", err)
	}
}

// A slow journal refuses a run after some time.
type slow struct {
	Store
	asked, say chan struct{}
}

var errFull = errors.New("the disk is full")

func (j *slow) Begin(runner.Start) (runner.Recording, error) {
	j.asked <- struct{}{}
	<-j.say
	return nil, errFull
}

// TestWaitsForTheFirst checks that a repeated order waits for the first order, and starts the
// run if the first order has failed.
func TestWaitsForTheFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("cascade_id: c\nphases: [{name: a, compose: x}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &slow{asked: make(chan struct{}), say: make(chan struct{})}
	pool := NewPool(PoolOptions{
		Store: j, Cascades: map[string]string{"c": file},
		Runner: func(_ runner.Start, j runner.Journal) (*runner.Runner, error) {
			return runner.New(runner.WithJournal(j))
		},
	})
	results := make(chan error, 2)
	start := func() { _, err := pool.Start(t.Context(), Order{Cascade: "c", RunID: "a"}); results <- err }
	go start()
	<-j.asked
	impatient, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer leave()
	if _, err := pool.Start(impatient, Order{Cascade: "c", RunID: "a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want to be let go", err)
	}
	go start()
	select {
	case <-j.asked:
		t.Error("two begin the same run")
	case <-time.After(20 * time.Millisecond):
	}
	j.say <- struct{}{}
	<-j.asked // the second order
	j.say <- struct{}{}
	for range 2 {
		if err := <-results; !errors.Is(err, errFull) {
			t.Errorf("got %v", err)
		}
	}
}
