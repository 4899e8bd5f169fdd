package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const hookRules = `cascade_id: gates
hooks:
- {on: write, wards: [{expr: "content contains 'owls'", reason: the text does not mention owls}]}
- {on: stop, wards: [{expr: "content contains 'owls'", reason: the message does not mention owls}], on_exhausted: stop}
- {on: stop, files: ["*.md"], wards: [{expr: "content contains 'owls'", reason: the file does not mention owls}], on_exhausted: stop, on_error: pass}
`

// hookFolder returns a folder with the rules and an empty repository, and the store.
func hookFolder(t testing.TB) (dir, store string) {
	t.Helper()
	dir = folderInUse(t)
	if err := os.WriteFile(filepath.Join(dir, "gates.yaml"), []byte(hookRules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", filepath.Join(dir, "repo")).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	return dir, filepath.Join(dir, "runs.db")
}

// folderInUse returns a temporary folder. It is removed in several tries,
// because programs that outlive their parent may still write there.
func folderInUse(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hook")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error(err)
	})
	return dir
}

// hookProcess returns a process of capstan hook with a payload.
func hookProcess(program, dir, store string, payload map[string]any) *exec.Cmd {
	text, _ := json.Marshal(payload)
	cmd := exec.Command(program, "hook", "--rules", filepath.Join(dir, "gates.yaml"), "--store", store)
	cmd.Stdin, cmd.Env = bytes.NewReader(text), append(os.Environ(), "CAPSTAN_MODEL=")
	return cmd
}

func stopPayload(dir, message string) map[string]any {
	return map[string]any{"session_id": "s", "cwd": filepath.Join(dir, "repo"), "hook_event_name": "Stop", "last_assistant_message": message}
}

// TestHookVerdictStatus checks the exit statuses that CI asks for.
func TestHookVerdictStatus(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	dir, store := hookFolder(t)
	verdict := func() int {
		cmd := exec.Command(program, "hook", "verdict", "s", "--store", store)
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	}
	if got := verdict(); got != exitBroken {
		t.Errorf("without a store: %d", got)
	}
	for _, step := range []struct {
		message string
		status  int
	}{{"cats", exitNo}, {"owls", exitOK}} {
		if out, err := hookProcess(program, dir, store, stopPayload(dir, step.message)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := verdict(); got != step.status {
			t.Errorf("%s: %d", step.message, got)
		}
	}
}

// BenchmarkHook measures a hook that judges a write by computed wards. It
// compares the time with a hook that no rule covers, with the start of the
// program, and with a program that does nothing. The samples alternate, so that
// another load of the machine slows all of them.
func BenchmarkHook(b *testing.B) {
	program, err := exec.LookPath("capstan")
	if err != nil {
		b.Fatal(err)
	}
	dir, store := hookFolder(b)
	payload := map[string]any{"session_id": "s", "cwd": filepath.Join(dir, "repo"), "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(dir, "repo", "a.md"), "content": strings.Repeat("owls\n", 200)}}
	reading := map[string]any{"session_id": "s", "cwd": filepath.Join(dir, "repo"), "hook_event_name": "PreToolUse", "tool_name": "Read",
		"tool_input": map[string]any{"file_path": filepath.Join(dir, "repo", "a.md")}}
	samples := []struct {
		name string
		make func() *exec.Cmd
		took []time.Duration
	}{
		{name: "true", make: func() *exec.Cmd { return exec.Command("true") }},
		{name: "version", make: func() *exec.Cmd { return exec.Command(program, "version") }},
		{name: "no-rule", make: func() *exec.Cmd { return hookProcess(program, dir, store, reading) }},
		{name: "wards", make: func() *exec.Cmd { return hookProcess(program, dir, store, payload) }},
	}
	for b.Loop() {
		for i := range samples {
			cmd := samples[i].make()
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			samples[i].took = append(samples[i].took, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	medians := map[string]float64{}
	for _, s := range samples {
		slices.Sort(s.took)
		medians[s.name] = float64(s.took[len(s.took)/2].Microseconds()) / 1000
		b.ReportMetric(medians[s.name], s.name+"-cpu-ms")
	}
	b.ReportMetric(medians["wards"]-medians["version"], "over-version-cpu-ms")
}
