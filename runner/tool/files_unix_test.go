//go:build unix

package tool_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody writes to the FIFO, so a read would never return.
func TestFilesThatAreNoFiles(t *testing.T) {
	root, set := tree(t, nil)
	fifo := filepath.Join(root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	fails(t, find(t, set, "read_file"), map[string]any{"path": "fifo"}, "fifo: not a regular file")
	fails(t, find(t, set, "write_file"), map[string]any{"path": "fifo", "content": "x"}, "not a regular file")
	fails(t, find(t, set, "list_files"), map[string]any{"path": "fifo"}, "not a directory")
	if info, err := os.Lstat(fifo); err != nil || info.Mode().IsRegular() {
		t.Errorf("the FIFO is %v, %v", info, err)
	}
	if err := syscall.Mknod(filepath.Join(root, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err == nil {
		fails(t, find(t, set, "read_file"), map[string]any{"path": "zero"}, "not a regular file")
	}
}
