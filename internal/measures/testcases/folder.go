package testcases

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed61713e19/capstan/internal/files"
)

// A folder is the folder of a test case. Its methods take slash-separated names within it. They
// must not follow a symbolic link out of it, because a test case comes with a repository and is
// untrusted.
type folder string

// read reads a regular file.
func (d folder) read(name string) (text []byte, err error) {
	err = d.open(name, func(root *os.Root) (err error) {
		text, err = files.ReadIn(root, filepath.FromSlash(name), maxFile)
		return err
	})
	return text, err
}

// list returns the entries of a subfolder, sorted by name.
func (d folder) list(name string) (entries []fs.DirEntry, err error) {
	err = d.open(name, func(root *os.Root) (err error) {
		entries, err = fs.ReadDir(root.FS(), name)
		return err
	})
	return entries, err
}

// open calls work with the folder. Errors contain the file name of the caller.
func (d folder) open(name string, work func(*os.Root) error) error {
	root, err := os.OpenRoot(string(d))
	if err == nil {
		defer root.Close()
		err = work(root)
	}
	if err == nil {
		return nil
	}
	full := filepath.Join(string(d), filepath.FromSlash(name))
	if files.Escapes(err) {
		return fmt.Errorf("%s leads out of the test's folder %s: put a copy of the file there", full, string(d))
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: at.Op, Path: full, Err: at.Err}
	}
	return fmt.Errorf("%s: %w", string(d), err)
}

// save writes files, case.yaml first. After an interruption the folder is a failing test case,
// which the next save may replace. It removes other files of the folders.
func (d folder) save(files map[string][]byte, folders ...string) error {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	if files[sharedFile] == nil {
		err := d.open(sharedFile, func(root *os.Root) error { return root.Remove(sharedFile) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range folders {
		if err := d.clear(name, files); err != nil {
			return err
		}
	}
	for _, name := range append([]string{headFile}, slices.Sorted(maps.Keys(files))...) {
		if err := d.write(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the entries of a subfolder, except those of keep.
func (d folder) clear(name string, keep map[string][]byte) error {
	entries, err := d.list(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		old := path.Join(name, e.Name())
		if _, repeat := keep[old]; repeat {
			continue
		}
		if err := d.open(old, func(root *os.Root) error { return root.RemoveAll(filepath.FromSlash(old)) }); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file and its folder, unless the text is the same. The umask decides the modes of
// new files.
func (d folder) write(name string, text []byte) error {
	return d.open(name, func(root *os.Root) error {
		file := filepath.FromSlash(name)
		if before, err := root.ReadFile(file); err == nil && bytes.Equal(before, text) {
			return nil
		}
		if err := root.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		return root.WriteFile(file, text, 0o666)
	})
}
