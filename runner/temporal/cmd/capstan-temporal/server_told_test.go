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

// A question is shown by capstan, which says how it is answered; done so the run goes
// on, and shows that it is answered.
func TestServerAnswered(t *testing.T) {
	f := newFleet(t)
	f.worker("one")
	f.begin("asks", asks, nil)
	f.asked("asks")
	if status, says := f.capstan("runs", "--status", "waiting"); status != 0 || !strings.Contains(says, "asks") {
		t.Errorf("capstan runs: exit status %d, %s", status, says)
	}
	status, says := f.capstan("answer", "asks", "yes")
	_, command, told := strings.Cut(strings.TrimSpace(says), "capstan-temporal ")
	if status != usage || !told {
		t.Fatalf("capstan answer: exit status %d, %s", status, says)
	}
	if out, err := f.program("one", strings.Fields(strings.ReplaceAll(command, `"`, ""))...).CombinedOutput(); err != nil {
		t.Fatalf("capstan-temporal %s: %v: %s", command, err, out)
	}
	if result, err := f.runs.Wait(within(t, time.Minute), "asks"); err != nil || result.Status != engine.Succeeded {
		t.Errorf("%+v: %v", result, err)
	}
	if status, says := f.capstan("show", "asks"); status != 0 || strings.Contains(says, "waits for") || !strings.Contains(says, "succeeded") {
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
