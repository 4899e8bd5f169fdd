//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const watched = `
cascade_id: watched
inputs_schema: {topic: {type: string}}
validators:
  own: {exec: [sh, CHECK], verdict: exit_status}
phases:
  - {name: outline, instructions: "Outline {{ input.topic }}."}
  - name: draft
    instructions: "@draft.md"
    wards: {post: [{validator: own}MORE]}
`

// A watchTest is a command that watches a cascade in a folder.
type watchTest struct {
	*testing.T
	dir string
	mu  sync.Mutex
	out bytes.Buffer
}

func (w *watchTest) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

// file writes a file of the folder.
func (w *watchTest) file(name, text string) {
	w.Helper()
	text = strings.ReplaceAll(text, "CHECK", filepath.Join(w.dir, "check.sh"))
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// prints waits until the command has printed texts in this order, and drops the output up
// to the last one.
func (w *watchTest) prints(texts ...string) {
	w.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		w.mu.Lock()
		left, missing := w.out.String(), ""
		for _, text := range texts {
			var found bool
			if _, left, found = strings.Cut(left, text); !found {
				missing = text
				break
			}
		}
		if missing == "" {
			w.out.Reset()
			w.out.WriteString(left)
			w.mu.Unlock()
			return
		}
		printed := w.out.String()
		w.mu.Unlock()
		if time.Now().After(end) {
			w.Fatalf("no %q in\n%s", missing, printed)
		}
	}
}

// start runs a command until the returned function stops it.
func (w *watchTest) start(args ...string) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	c := &Command{Stdin: strings.NewReader(""), Stdout: w, Stderr: w, Getenv: func(name string) string {
		return map[string]string{"CAPSTAN_STORE": filepath.Join(w.dir, "runs.db"), "PATH": os.Getenv("PATH")}[name]
	}}
	done := make(chan int)
	go func() { done <- c.Run(ctx, args) }()
	return func() {
		w.Helper()
		cancel()
		if status := <-done; status != exitInterrupted {
			w.Errorf("status %d, want %d", status, exitInterrupted)
		}
	}
}

// TestRunWatch changes each kind of file that a cascade reads. Each change
// starts a run that shares the unchanged calls, and prints the differences from
// the previous run.
func TestRunWatch(t *testing.T) {
	t.Parallel()
	w := &watchTest{T: t, dir: t.TempDir()}
	w.file("watched.yaml", strings.Replace(watched, "MORE", "", 1))
	w.file("draft.md", "Write about {{ outputs.outline }}.")
	w.file("check.sh", "exit 0\n")
	w.file("watched.scripted.yaml", `
- {phase: outline, reply: three facts, times: always}
- {phase: draft, contains: short, reply: Owls., times: always}
- {phase: draft, reply: Owls hunt at night., times: always}
`)
	path := filepath.Join(w.dir, "watched.yaml")
	stop := w.start("run", path, "--watch", "--model", "scripted", "--input", "topic=owls")
	w.prints("outline\ndraft\n  ✓ post own\nsucceeded ", "  2 calls", "Owls hunt at night.\n")
	w.file("draft.md", "Write a short text about {{ outputs.outline }}.")
	w.prints("changed: "+filepath.Join(w.dir, "draft.md")+"\n", "shared: outline\ndraft\n", "  1 call", "draft: text changed\n", "  -Owls hunt at night.\n  +Owls.\n")
	w.file("watched.yaml", strings.Replace(watched, "MORE", ", {validator: word_count, with: {min: 3}}", 1))
	w.prints("  0 calls", "capstan: phase draft: blocked: post word_count", "status: succeeded → blocked\n", "draft: succeeded → blocked\n",
		"draft: new check post word_count: ✗ ", "draft: post own: not run\n")
	w.file("watched.yaml", strings.Replace(watched, "MORE", ", {validator: word_cont}", 1))
	w.prints(`did you mean "word_count"?`)
	w.file("watched.yaml", strings.Replace(watched, "MORE", ", {validator: word_count, with: {min: 3}}", 1))
	w.prints("changed: "+path+"\n", "no difference\n")
	w.file("watched.scripted.yaml", `
- {phase: outline, reply: three facts, times: always}
- {phase: draft, reply: Owls hunt in the dark., times: always}
`)
	w.prints("changed: "+filepath.Join(w.dir, "watched.scripted.yaml")+"\n", "  2 calls", "status: blocked → succeeded\n", "draft: post word_count: ✗ ", " → ✓\n", "draft: text changed\n")
	w.file("check.sh", "exit 1\n")
	w.prints("changed: "+filepath.Join(w.dir, "check.sh")+"\n", "draft: post own: ✓ → ✗ ")
	stop()

	stop = w.start("run", path, "--watch", "--model", "scripted")
	w.prints("input of run ", "\noutline\n", "blocked ")
	stop()
}

// TestRunWatchFlags checks that --watch rejects the flags of a single run.
func TestRunWatchFlags(t *testing.T) {
	dir := t.TempDir()
	for _, flags := range [][]string{{"--json"}, {"--run-id", "x"}, {"--events", "x"}, {"--store", "off"}, {"--each", "x.jsonl"}} {
		text, status := capstan(t, dir, append([]string{"run", "x.yaml", "--watch"}, flags...)...)
		if status != exitUsage || !strings.Contains(text, "--watch") {
			t.Errorf("%q: status %d, %s", flags, status, text)
		}
	}
}
