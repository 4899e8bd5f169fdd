package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/hooks"
	"github.com/seed61713e19/capstan/runner/journal"
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

// TestHookKilled kills hooks at random times and checks that the store stays readable, that
// no refusal is lost, and that no killed hook counts as a pass.
func TestHookKilled(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	dir, store := hookFolder(t)
	answered := 0
	begin := time.Now()
	if err := hookProcess(program, dir, store, stopPayload(dir, "cats")).Run(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(begin)
	for range 20 {
		cmd := hookProcess(program, dir, store, stopPayload(dir, "cats"))
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(whole))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if bytes.Contains(out.Bytes(), []byte("block")) {
			answered++
		}
	}
	out, err := hookProcess(program, dir, store, stopPayload(dir, "cats")).Output()
	if err != nil || !bytes.Contains(out, []byte("Refused by the gate")) {
		t.Errorf("after the kills: %s, %v", out, err)
	}
	j, err := journal.Open(store, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	records, err := hooks.Log(t.Context(), j, "s")
	refusals := 0
	for _, r := range records {
		switch r.Verdict {
		case hooks.Refused, hooks.Exhausted:
			refusals++
		case hooks.Passed:
			t.Errorf("a killed hook passed: %+v", r)
		}
	}
	if refusals < answered+2 || err != nil {
		t.Errorf("%d refusals for %d answers, %v", refusals, answered+2, err)
	}
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
