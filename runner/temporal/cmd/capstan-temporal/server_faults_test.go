//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
)

// TestServerWorkerIsKilled kills one of two workers during 50 effects. No
// finished effect is repeated, and the next one finishes within 25 s.
func TestServerWorkerIsKilled(t *testing.T) {
	f := newFleet(t)
	workers := map[string]int{}
	for _, name := range []string{"one", "two"} {
		workers[name] = f.worker(name).Process.Pid
	}
	held, killed := make(chan string, 1), make(chan bool)
	elsewhere := make(chan time.Time, 100)
	var victim string
	f.model.before = func(worker, what string, nth int) {
		f.model.mu.Lock()
		if nth == 25 {
			victim = worker
			held <- worker
		}
		hold := worker == victim
		f.model.mu.Unlock()
		if hold {
			<-killed // the answers of the killed worker are lost
			return
		}
		time.Sleep(50 * time.Millisecond) // the latency of a model
		select {
		case <-killed:
			elsewhere <- time.Now()
		default:
		}
	}
	f.begin("killed", steps(4), listOf(50))
	name := <-held
	time.Sleep(2 * time.Second) // earlier answers must reach the server
	before, finished := f.model.counts()
	if err := syscall.Kill(workers[name], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	close(killed)
	result, err := f.runs.Wait(within(t, 2*time.Minute), "killed")
	if err != nil || result.Status != engine.Succeeded || result.Output != "50" {
		t.Fatalf("%+v: %v", result, err)
	}
	next := (<-elsewhere).Sub(at)
	after, _ := f.model.counts()
	again, repeated := 0, 0
	for what, n := range after {
		again += n - 1
		if finished[what] > 0 && n > before[what] {
			repeated++
		}
	}
	t.Logf("one of two workers killed amid 50 effects: %d begun, %d that had finished made again, the next %.1f s and the end %.1f s after the kill",
		50+again, repeated, next.Seconds(), time.Since(at).Seconds())
	if repeated > 0 || next > 25*time.Second || len(after) != 50 {
		t.Errorf("%d of %d were made again, the next came after %s", repeated, len(after), next)
	}
}

// TestServerIsKilled kills and restarts the server during 50 effects. The run
// must succeed.
func TestServerIsKilled(t *testing.T) {
	f := newFleet(t)
	f.worker("one")
	f.worker("two")
	half := make(chan bool)
	f.model.before = func(_, _ string, nth int) {
		if nth == 25 {
			close(half)
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.begin("back", steps(4), listOf(50))
	<-half
	if err := f.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = f.server.Wait()
	time.Sleep(3 * time.Second)
	f.serve()
	at := time.Now()
	result, err := f.runs.Wait(within(t, 2*time.Minute), "back")
	if err != nil || result.Status != engine.Succeeded || result.Output != "50" {
		t.Fatalf("%+v: %v", result, err)
	}
	asked, _ := f.model.counts()
	again := 0
	for _, n := range asked {
		again += n - 1
	}
	t.Logf("the server killed amid 50 effects, and back after 3 s: %d begun, the end %.1f s after it was back", 50+again, time.Since(at).Seconds())
	if len(asked) != 50 || again > 8 {
		t.Errorf("%d were asked for, %d again", len(asked), again)
	}
	if run, err := f.journal.Run(t.Context(), "back"); err != nil || run.Status != engine.Succeeded {
		t.Errorf("the store has %+v: %v", run, err)
	}
}
