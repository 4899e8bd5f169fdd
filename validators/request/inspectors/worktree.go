package inspectors

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

// openWorktree opens the directory with the work.
func openWorktree(within, dir string) (t *worktree.Tree, err error) {
	switch {
	case within == "" && dir == "":
		err = errors.New("the request has no worktree_path")
	case within == "" && !filepath.IsAbs(dir):
		err = fmt.Errorf("the worktree_path %q is not absolute", dir)
	case within == "":
		t, err = worktree.Open(dir)
	case dir == "":
		t, err = worktree.Open(within)
	default:
		t, err = worktree.OpenWithin(within, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("no worktree: %w", err)
	}
	return t, nil
}
