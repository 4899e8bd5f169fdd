// Package worktree reads the files of a directory and nothing outside it.
package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed61713e19/capstan/internal/files"
)

// EvidenceDirs is the pattern, for [os.MkdirTemp], of the directories for screenshots that an
// inspector makes under [os.TempDir]. Package request finds the screenshots there.
const EvidenceDirs = "capstan-evidence-*"

// errOutside reports a path that leads out of a tree.
var errOutside = errors.New("outside the worktree")

// A Tree is a directory. Neither ".." nor a link leads out of it.
type Tree struct {
	Dir      string // its absolute path
	root     *os.Root
	prefixes []string // of absolute paths in it
}

// Open opens a directory. Absolute paths in it begin with its path or one of the names.
func Open(dir string, names ...string) (*Tree, error) {
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(whole)
	if err != nil {
		return nil, err
	}
	t := &Tree{Dir: whole, root: root}
	for _, name := range append(names, whole) {
		if filepath.IsAbs(name) {
			t.prefixes = append(t.prefixes, name)
		}
	}
	return t, nil
}

// OpenWithin opens a directory that is the outer one or lies in it, links followed. A
// relative dir is relative to the outer one.
func OpenWithin(outer, dir string) (*Tree, error) {
	name := dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(outer, dir)
	}
	outer, err := resolved(outer)
	if err != nil {
		return nil, err
	}
	inner, err := resolved(dir)
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
	t := &Tree{Dir: inner, prefixes: []string{inner}}
	if filepath.IsAbs(name) {
		t.prefixes = append(t.prefixes, name)
	}
	t.root, err = root.OpenRoot(rel)
	return t, err
}

func resolved(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Close closes the directory.
func (t *Tree) Close() {
	if t != nil {
		t.root.Close()
	}
}

// Local returns the path relative to the directory, with slashes.
func (t *Tree) Local(name string) (string, error) {
	local := name
	for _, prefix := range t.prefixes {
		if rel, err := filepath.Rel(prefix, name); err == nil && filepath.IsAbs(name) && filepath.IsLocal(rel) {
			local = rel
			break
		}
	}
	if strings.ContainsRune(local, 0) || path.IsAbs(filepath.ToSlash(local)) || !filepath.IsLocal(local) {
		return "", fmt.Errorf("%q is %w", name, errOutside)
	}
	return path.Clean(filepath.ToSlash(local)), nil
}

// inside returns the local path with the slash at its end, with which a file has no path.
func (t *Tree) inside(name string) (string, error) {
	local, err := t.Local(name)
	if strings.HasSuffix(filepath.ToSlash(name), "/") {
		local += "/"
	}
	return filepath.FromSlash(local), err
}

// Stat describes the target of a path. It returns nil if there is none.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	local, err := t.inside(name)
	if err != nil {
		return nil, err
	}
	info, err := t.root.Stat(local)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, reason(err))
	}
	return info, nil
}

// File opens a regular file.
func (t *Tree) File(name string) (*os.File, error) {
	local, err := t.inside(name)
	if err != nil {
		return nil, err
	}
	f, err := files.OpenIn(t.root, local)
	if err != nil {
		return nil, reason(err)
	}
	return f, nil
}

// reason returns an error without the operation and the path.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		return errOutside
	}
	return err
}
