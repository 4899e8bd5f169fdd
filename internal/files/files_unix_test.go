//go:build unix

package files_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/internal/files"
)

// TestReadIrregular checks that FIFOs and devices are rejected. A FIFO without a writer would
// block, and a device may have no end.
func TestReadIrregular(t *testing.T) {
	dir, root := world(t)
	fifo := filepath.Join(dir, "in/fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	root.Files = append(root.Files, "/dev/zero")
	for name, read := range map[string]func(string, int64) ([]byte, error){"/dev/zero": root.Read, fifo: root.Read, "/dev/null": files.Read} {
		if _, err := read(name, 10); err == nil || !strings.Contains(err.Error(), name+": not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
