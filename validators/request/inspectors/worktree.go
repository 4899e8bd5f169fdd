package inspectors

import (
	"errors"
	"fmt"
	"io"
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

// readFile reads a regular file of the worktree up to a number of bytes.
func readFile(t *worktree.Tree, name string, limit int64) (content, error) {
	f, err := t.File(name)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	return readContent(f, limit)
}

func readContent(r io.Reader, limit int64) (content, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(text)) > limit {
		return content{text[:limit], true}, err
	}
	return content{text, false}, err
}
