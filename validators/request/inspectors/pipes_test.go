//go:build unix

package inspectors

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// A pipe in the worktree must not be waited for.
func TestPipe(t *testing.T) {
	dir := tree(t, nil)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	one(t, &Inspector{}, request.Request{WorktreePath: dir}, "file: pipe contains x", request.Unreachable, "not a regular file")
}
