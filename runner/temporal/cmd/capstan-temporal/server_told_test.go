package main

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
)

const asks = "cascade_id: asks\nphases:\n  - {name: a, compose: x, human_input: {type: confirmation, prompt: 'ok?'}}\n"

// A run that is cancelled on Temporal's page ends as cancelled, and capstan show
// says so.
func TestServerCancelled(t *testing.T) {
	f := newFleet(t)
	f.worker("one", "--search-attributes")
	f.begin("stopped", asks, nil)
	f.asked("stopped")
	if err := f.temporal.CancelWorkflow(t.Context(), "stopped", ""); err != nil {
		t.Fatal(err)
	}
	if result, err := f.runs.Wait(within(t, time.Minute), "stopped"); err != nil || result.Status != engine.Cancelled {
		t.Errorf("%+v: %v", result, err)
	}
	if status, says := f.capstan("show", "stopped"); status != 0 || !strings.Contains(says, "cancelled") {
		t.Errorf("capstan show: exit status %d, %s", status, says)
	}
}

// asked waits until a run asks.
func (f *fleet) asked(id string) {
	f.t.Helper()
	for ctx := within(f.t, time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if list, err := f.runs.Questions(ctx, id); err == nil && len(list) > 0 {
			return
		}
		if ctx.Err() != nil {
			f.t.Fatal("nothing was asked")
		}
	}
}

// A namespace that is not there is told in words.
func TestServerNoNamespace(t *testing.T) {
	f := newFleet(t)
	file := f.write("asks.yaml", asks)
	for _, args := range [][]string{{"worker"}, {"run", file}, {"answer", "r", "yes"}} {
		c := f.program("one", append(args, "--namespace", "nowhere")...)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != broken || !strings.Contains(string(out), "namespace nowhere is not there") {
			t.Errorf("%v: exit status %d, %s", args, c.ProcessState.ExitCode(), out)
		}
	}
}
