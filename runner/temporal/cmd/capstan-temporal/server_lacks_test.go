//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/temporal"
)

// checked returns a cascade whose validator is a program on the workers of a
// queue.
func checked(queue string) string {
	return "cascade_id: checked\nvalidators:\n  there: {exec: [only-there]}\nphases:\n  - {name: a, compose: x, " + queue + "wards: {post: [{validator: there}]}}\n"
}

// TestServerWorkersLackWhatIsNeeded checks that the workers of the named queue
// run a program that no other worker has. A worker without the program, or
// without the key of a model, reports that in the run. The run must not wait
// forever.
func TestServerWorkersLackWhatIsNeeded(t *testing.T) {
	f := newFleet(t)
	tools := filepath.Join(f.dir, "tools")
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	program := "#!/bin/sh\ncat >/dev/null\necho '{\"valid\": true, \"reason\": \"as it should be\"}'\n"
	if err := os.WriteFile(filepath.Join(tools, "only-there"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	f.env = []string{"OPENAI_API_KEY="}
	f.worker("without")

	f.begin("goes", checked("queue: exec, "), nil)
	f.begin("lacks", checked(""), nil)
	if result, err := f.runs.Wait(within(t, time.Minute), "lacks"); err != nil || result.Status == engine.Succeeded || result.Error == nil || !strings.Contains(result.Error.Message, "only-there") {
		t.Errorf("without the program: %+v: %v", result, err)
	}
	if d, err := f.temporal.DescribeWorkflowExecution(t.Context(), "goes", ""); err != nil || len(d.PendingActivities) != 1 {
		t.Errorf("one that needs another worker does not wait: %+v, %v", d, err)
	}
	f.env = []string{"PATH=" + tools + ":" + os.Getenv("PATH")}
	f.worker("with", "--queue", "exec", "--effects-only")
	if result, err := f.runs.Wait(within(t, time.Minute), "goes"); err != nil || result.Status != engine.Succeeded {
		t.Errorf("with the program: %+v: %v", result, err)
	}

	f.asks = "openai:gpt-5-mini"
	f.begin("keyless", "cascade_id: keyless\nphases:\n  - {name: a, instructions: Say one.}\n", nil)
	result, err := f.runs.Wait(within(t, time.Minute), "keyless")
	if err != nil || result.Status != engine.Failed || result.Error == nil || !strings.Contains(result.Error.Message, "OPENAI_API_KEY") {
		t.Errorf("without the key: %+v: %v", result, err)
	}
	for _, id := range []string{"lacks", "keyless"} {
		if status, says := f.capstan("show", id); status != 0 || !strings.Contains(says, "only-there") && !strings.Contains(says, "OPENAI_API_KEY") {
			t.Errorf("capstan show %s: exit status %d, %s", id, status, says)
		}
	}
}

// TestServerTooLargeIsNotTriedAgain checks that an effect whose result is too
// large for a history fails once, without retries.
func TestServerTooLargeIsNotTriedAgain(t *testing.T) {
	f := newFleet(t)
	f.worker("one")
	var made atomic.Int32
	w := worker.New(f.temporal, "large", worker.Options{})
	w.RegisterActivityWithOptions(func(context.Context, temporal.Task) (temporal.Payload, error) {
		made.Add(1)
		return temporal.Payload{JSON: []byte(`"` + strings.Repeat("x", 3<<20) + `"`)}, nil
	}, activity.RegisterOptions{Name: "capstan.model"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	f.begin("large", "cascade_id: large\nphases:\n  - {name: a, instructions: Say one., queue: large}\n", nil)
	result, err := f.runs.Wait(within(t, time.Minute), "large")
	if err != nil || result.Status != engine.Failed || result.Error == nil || !strings.Contains(result.Error.Message, "size") || made.Load() != 1 {
		t.Errorf("made %d times, %+v: %v", made.Load(), result.Error, err)
	}
}

// TestServerCancelReachesTheCall checks that cancelling a run ends its current
// call, so it costs nothing more. The worker receives the cancellation with its
// next heartbeat.
func TestServerCancelReachesTheCall(t *testing.T) {
	f := newFleet(t)
	asking, over := make(chan bool, 1), make(chan bool, 1)
	f.model.hold = func(asks context.Context) {
		asking <- true
		<-asks.Done()
		over <- true
	}
	f.worker("one")
	f.begin("dear", "cascade_id: dear\nphases:\n  - {name: a, instructions: Say one.}\n", nil)
	<-asking
	if err := f.temporal.CancelWorkflow(t.Context(), "dear", ""); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	select {
	case <-over:
		t.Logf("a cancelled run's call ended after %.1f s", time.Since(at).Seconds())
	case <-time.After(time.Minute):
		t.Error("the call goes on")
	}
	if result, err := f.runs.Wait(within(t, time.Minute), "dear"); err != nil || result.Status != engine.Cancelled {
		t.Errorf("%+v: %v", result, err)
	}
}
