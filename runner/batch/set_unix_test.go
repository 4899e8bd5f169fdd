//go:build unix

package batch_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/runner/batch"
)

// A FIFO that nobody writes to is told, and not waited for.
func TestOpenDoesNotWait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Open(file); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}
