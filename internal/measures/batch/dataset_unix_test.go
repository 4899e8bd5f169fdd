//go:build unix

package batch_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
)

// A FIFO without a writer is an error and does not block.
func TestOpenDoesNotWait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Open(file); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}
