package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, age time.Duration) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	w := newWatcher(dir)
	look := func(want ...string) {
		t.Helper()
		files, err := w.look()
		if err != nil {
			t.Fatal(err)
		}
		for i := range files {
			files[i], _ = filepath.Rel(dir, files[i])
		}
		if !slices.Equal(files, want) {
			t.Errorf("got %v, want %v", files, want)
		}
	}
	look()
	write("b.md", "text", time.Hour)
	write("run/a.md", "text", time.Hour)
	write("data.json", "{}", time.Hour)
	look() // a new file may still be incomplete
	look("b.md", "run/a.md")
	look()
	write("b.md", "more text", time.Minute)
	look()
	write("b.md", "even more text", time.Second)
	look() // the file changed again between the checks
	look("b.md")
	if err := os.Remove(filepath.Join(dir, "b.md")); err != nil {
		t.Fatal(err)
	}
	look()
	if _, err := newWatcher(filepath.Join(dir, "nowhere")).look(); err == nil {
		t.Error("a directory that is not there was looked at")
	}
}

// TestWatch checks that --watch prints a line for each stage file and ignores
// other files.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"BASE_T1.md": "short", "notes.md": "notes"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stderr: &stderr, Getenv: func(string) string { return "" }}
	var out bytes.Buffer
	c.Stdout = onWrite(func(p []byte) {
		out.Write(p)
		stop()
	})
	if status := c.Run(ctx, []string{"gate", "capy", "--watch", dir}); status != exitInterrupted {
		t.Errorf("status %d: %s", status, stderr.String())
	}
	if got := out.String(); !strings.Contains(got, "FAIL") || !strings.Contains(got, "BASE_T1.md") || strings.Contains(got, "notes.md") {
		t.Errorf("got %q", got)
	}
}
