package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// letter is a cascade whose tool writes: it notes that it was started and, the
// first time, kills the process that started it before it is done.
const letter = `
cascade_id: letter
tools:
  send: {exec: [sh, -c, "cat > /dev/null; echo start >> starts; if [ $(wc -l < starts) = 1 ]; then kill -9 $PPID; sleep 1; fi; echo sent"]}
phases:
- {name: mail, tool: send, inputs: {to: ann}}
- {name: told, compose: "It was: {{ outputs.mail }}"}
`

// TestWriteIsNotRepeated kills a run while a tool that writes is at work: however
// often it is resumed the tool is not started again, until a person says so.
func TestWriteIsNotRepeated(t *testing.T) {
	programs := programs(t)
	for _, c := range []struct {
		answer, output string
		status, starts int
	}{
		{"repeat", "It was: sent", 0, 2},
		{"done: it has gone out", "It was: it has gone out", 0, 1},
		{`done: {"id": 12345678901234567890}`, "It was: {'id': 12345678901234567890}", 0, 1},
		{"done", "It was: ", 0, 1},
		{"stop", "", 3, 1},
	} {
		t.Run(c.answer, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "letter.yaml"), []byte(letter), 0o644); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			capstan := func(status int, args ...string) {
				t.Helper()
				stdout.Reset()
				stderr.Reset()
				cmd := exec.Command(filepath.Join(programs, "capstan"), args...)
				cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
				cmd.Env = append(os.Environ(), "CAPSTAN_DB="+filepath.Join(dir, "runs.db"))
				if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
					t.Fatalf("%q: %v, want status %d\n%s%s", args, err, status, &stdout, &stderr)
				}
			}
			started := func(want int) {
				t.Helper()
				text, _ := os.ReadFile(filepath.Join(dir, "starts"))
				if got := strings.Count(string(text), "\n"); got != want {
					t.Errorf("started %d times, want %d", got, want)
				}
			}
			capstan(-1, "run", "letter.yaml", "--run-id", "r") // killed
			started(1)
			for range 2 {
				capstan(exitWaiting, "resume", "r")
				started(1)
			}
			if !strings.Contains(stderr.String(), "Did it happen?") {
				t.Errorf("it asks nothing:\n%s", &stderr)
			}
			capstan(exitUsage, "answer", "r", "perhaps")
			capstan(0, "answer", "r", c.answer)
			capstan(c.status, "resume", "r")
			started(c.starts)
			if got := strings.TrimSpace(stdout.String()); got != strings.TrimSpace(c.output) {
				t.Errorf("got %q, want %q", got, c.output)
			}
			if c.status == 0 {
				capstan(0, "resume", "r")
				started(c.starts)
			}
		})
	}
}
