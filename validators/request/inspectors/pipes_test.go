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
	for _, hint := range []string{"file: pipe", "file: pipe size 0", "file: pipe contains x"} {
		one(t, &Inspector{}, request.Request{WorktreePath: dir}, hint, request.Unreachable, "not a regular file")
	}
}
