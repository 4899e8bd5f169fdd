package inspectors

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	regular "github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/validators/request"
)

var (
	errOutside = errors.New("outside the worktree")
	errNoFile  = errors.New("not a regular file")
)

// A worktree is the directory with the work. Nothing outside it is reached,
// neither by a path nor by a link.
type worktree struct {
	root    *os.Root // nil: there is none, and problem says why
	dir     string
	names   []string // what absolute paths in it begin with
	problem string
}

func openWorktree(within string, r *request.Request) *worktree {
	w := &worktree{}
	if err := w.open(within, r.WorktreePath); err != nil {
		w.problem = "no worktree: " + err.Error()
	}
	for _, dir := range []string{r.WorktreePath, w.dir} {
		if filepath.IsAbs(dir) {
			w.names = append(w.names, filepath.ToSlash(filepath.Clean(dir))+"/")
		}
	}
	return w
}

func (w *worktree) open(within, dir string) (err error) {
	switch {
	case within == "" && dir == "":
		return errors.New("the request has no worktree_path")
	case within == "" && !filepath.IsAbs(dir):
		return fmt.Errorf("the worktree_path %q is not absolute", dir)
	case within == "":
		w.root, err = os.OpenRoot(dir)
	case dir == "":
		w.root, err = os.OpenRoot(within)
	default:
		w.root, err = openWithin(within, dir)
	}
	if err != nil {
		return err
	}
	w.dir, err = filepath.Abs(w.root.Name())
	return err
}

// openWithin opens a directory that is another or lies in it.
func openWithin(within, dir string) (*os.Root, error) {
	within, err := filepath.Abs(within)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(within, dir)
	}
	outer, err := filepath.EvalSymlinks(within)
	if err != nil {
		return nil, err
	}
	inner, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(outer, inner)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("the worktree_path %q lies outside the directory that worktrees are allowed in", dir)
	}
	root, err := os.OpenRoot(outer)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(rel)
}

func (w *worktree) close() {
	if w.root != nil {
		w.root.Close()
	}
}

// local is a path of a hint as a path in the worktree: relative, with no ".."
// anywhere.
func local(name string) (string, error) {
	slashed := filepath.ToSlash(name)
	if strings.ContainsRune(name, 0) || path.IsAbs(slashed) || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is %w", name, errOutside)
	}
	for part := range strings.SplitSeq(slashed, "/") {
		if part == ".." {
			return "", fmt.Errorf("%q is %w", name, errOutside)
		}
	}
	return path.Clean(slashed), nil
}

// local is local of the package, but an absolute path may lead into the worktree.
func (w *worktree) local(name string) (string, error) { return local(w.relative(name)) }

// relative is a path without the worktree's own before it.
func (w *worktree) relative(name string) string {
	for _, dir := range w.names {
		if rest, inside := strings.CutPrefix(name, dir); inside {
			return rest
		}
	}
	return name
}

// stat is what a path leads to; a nil info says that nothing is there.
func (w *worktree) stat(name string) (fs.FileInfo, error) {
	info, err := w.root.Stat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, reason(err))
	}
	return info, nil
}

// reason is an error without the operation and the path.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		return errOutside
	}
	return err
}

// read reads a regular file up to a number of bytes.
func (w *worktree) read(name string, limit int64) (content, error) {
	f, err := regular.OpenIn(w.root, filepath.FromSlash(name))
	if err != nil {
		return content{}, reason(err)
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
