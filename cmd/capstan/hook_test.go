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
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gates.yaml"), []byte(hookRules), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", filepath.Join(dir, "repo")).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	return dir, filepath.Join(dir, "runs.db")
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

// BenchmarkHook compares a hook that judges a write with a hook that does nothing.
func BenchmarkHook(b *testing.B) {
	program, err := exec.LookPath("capstan")
	if err != nil {
		b.Fatal(err)
	}
	dir, store := hookFolder(b)
	payload := map[string]any{"session_id": "s", "cwd": filepath.Join(dir, "repo"), "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(dir, "repo", "a.md"), "content": strings.Repeat("owls\n", 200)}}
	for name, make := range map[string]func() *exec.Cmd{
		"nothing": func() *exec.Cmd { return exec.Command("true") },
		"version": func() *exec.Cmd { return exec.Command(program, "version") },
		"hook":    func() *exec.Cmd { return hookProcess(program, dir, store, payload) },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				if err := make().Run(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}
