//go:build unix

package inspectors

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// TestPipe checks that a pipe in the worktree does not block the inspection.
func TestPipe(t *testing.T) {
	dir := tree(t, nil)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, hint := range []string{"file: pipe", "file: pipe size 0", "file: pipe contains x"} {
		one(t, &Inspector{}, request.Request{WorktreePath: dir}, hint, request.Blocked, "not a regular file")
	}
}
