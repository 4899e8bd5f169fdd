package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnswerOnTerminal checks that capstan answer asks on a terminal. It shows
// the beginning of a long text and names the command for the rest. It repeats
// the question after an invalid answer.
func TestAnswerOnTerminal(t *testing.T) {
	dir := t.TempDir()
	cascade := filepath.Join(dir, "long.yaml")
	text := "cascade_id: long\nphases:\n  - {name: draft, compose: \"" + strings.Repeat("A line.\\n", 60) + "\"}\n" +
		"  - {name: sign, compose: \"{{ outputs.draft }}\", human_input: {prompt: \"Publish?\"}}\n"
	if err := os.WriteFile(cascade, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set := map[string]string{"TERM": "xterm", "NO_COLOR": "1", "CAPSTAN_STORE": filepath.Join(dir, "runs.db")}
	getenv := func(name string) string { return set[name] }
	var out bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: getenv}
	if status := c.Run(t.Context(), []string{"run", cascade, "--run-id", "long"}); status != exitWaiting {
		t.Fatalf("status %d\n%s", status, out.String())
	}

	person, screen := pseudoterminal(t)
	defer person.Close()
	seen := make(chan []byte)
	go func() {
		shown, _ := io.ReadAll(person) // ends with an error when the terminal is closed
		seen <- shown
	}()
	if _, err := person.WriteString("perhaps\nyes\n"); err != nil {
		t.Fatal(err)
	}
	c = &Command{Stdin: screen, Stdout: screen, Stderr: screen, Getenv: getenv}
	status := c.Run(t.Context(), []string{"answer", "long"})
	screen.Close()
	shown := strings.ReplaceAll(string(<-seen), "\r\n", "\n")
	if status != exitOK || strings.Count(shown, "  | A line.") != 40 || strings.Count(shown, "Publish?") != 2 ||
		!strings.Contains(shown, "all of it: capstan show long --attempts") || !strings.Contains(shown, "answered; capstan resume long") {
		t.Errorf("status %d\n%s", status, shown)
	}
}
