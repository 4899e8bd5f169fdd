// Package worktree reads the files of a directory and nothing outside it.
package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
)

// A Tree is a directory. Neither ".." nor a link leads out of it.
type Tree struct {
	root     *os.Root
	prefixes []string // of absolute paths in it
}

// Open returns the tree of a directory, whose absolute paths may also begin with other
// names. It returns nil if there is no such directory.
func Open(dir string, names ...string) *Tree {
	if dir == "" {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	if whole, err := filepath.Abs(dir); err == nil {
		names = append(names, whole)
	}
	t := &Tree{root: root}
	for _, name := range names {
		if filepath.IsAbs(name) {
			t.prefixes = append(t.prefixes, name)
		}
	}
	return t
}

// Close closes the directory.
func (t *Tree) Close() {
	if t != nil {
		t.root.Close()
	}
}

// inside returns a path relative to the directory. It reports false for a path that
// leads out.
func (t *Tree) inside(path string) (string, bool) {
	if strings.ContainsRune(path, 0) {
		return "", false
	}
	if !filepath.IsAbs(path) {
		return path, filepath.IsLocal(path)
	}
	for _, prefix := range t.prefixes {
		if rel, err := filepath.Rel(prefix, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// Stat describes the target of a path. It returns nil if there is none in the directory.
func (t *Tree) Stat(path string) fs.FileInfo {
	inside, ok := t.inside(path)
	if !ok {
		return nil
	}
	info, err := t.root.Stat(inside)
	if err != nil {
		return nil
	}
	return info
}

// File opens a regular file that is not empty. It returns nil if there is none.
func (t *Tree) File(path string) *os.File {
	inside, ok := t.inside(path)
	if info := t.Stat(path); !ok || info == nil || info.Size() == 0 {
		return nil
	}
	file, err := files.OpenIn(t.root, inside)
	if err != nil {
		return nil
	}
	return file
}
