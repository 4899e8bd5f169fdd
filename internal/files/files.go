// Package files opens files with untrusted names or contents. These names and contents come from
// clients, cascades, models and documents.
//
// Every function opens regular files only, and never waits: a FIFO would block until it has a
// writer, and a device may have no end. Every read has a limit. [Read] is for names from an
// operator. [Root.Read] is for all other names. It opens nothing outside the folders of the root:
// "..", absolute paths and links cannot leave them. [ReadIn] does the same for code with an
// [os.Root].
package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrOutside reports a name that is outside the folders of a [Root].
var ErrOutside = errors.New("outside")

// ErrTooLarge reports a file with more bytes than the limit of the read.
var ErrTooLarge = errors.New("too large")

// A Root determines which files may be read: all files below the folders Dirs, and the single
// files Files. An operator has named these files, so they may be anywhere. Flag is the
// command-line flag that allows other folders. It appears in errors, and may be "".
type Root struct {
	Dirs, Files []string
	Flag        string
}

// Read reads a file of the root. A relative name is relative to the working directory.
// A file with more than limit bytes is an error.
func (r Root) Read(name string, limit int64) ([]byte, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNamed(f, name, limit)
}

// Open opens a file of the root for reading, see [Root.Read].
func (r Root) Open(name string) (f *os.File, err error) {
	err = r.in(name, func(in *os.Root, inside string) (err error) {
		if in == nil {
			f, err = Open(inside)
		} else {
			f, err = OpenIn(in, inside)
		}
		return err
	})
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = name
	}
	return f, Named(err)
}

// Check returns an error if a name, after links, is outside the root. A name inside the root is
// allowed even if the file is missing. Use Check if another program or library opens the file,
// and [Root.Open] otherwise.
func (r Root) Check(name string) error {
	err := r.in(name, func(in *os.Root, inside string) error {
		if in == nil {
			return nil
		}
		_, err := in.Stat(inside)
		return err
	})
	if errors.Is(err, ErrOutside) {
		return err
	}
	return nil
}

// in calls body with the first folder of the root that contains the file, and the name
// of the file in it. For one of the root's own files the folder is nil.
func (r Root) in(name string, body func(in *os.Root, inside string) error) error {
	if slices.ContainsFunc(r.Files, func(file string) bool { return filepath.Clean(file) == filepath.Clean(name) }) {
		return body(nil, name)
	}
	whole, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	var problem error
	for _, dir := range r.Dirs {
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, whole)
		if err != nil || !filepath.IsLocal(inside) {
			continue
		}
		in, err := os.OpenRoot(dir)
		if err == nil {
			err = body(in, inside)
			in.Close()
		}
		if !Escapes(err) {
			return err
		}
		problem = err
	}
	if problem != nil {
		return fmt.Errorf("%s: a link leads %w %s", name, ErrOutside, r)
	}
	return fmt.Errorf("%s is %w %s", name, ErrOutside, r)
}

// String lists the folders, and the flag that allows others.
func (r Root) String() string {
	dirs := slices.Clone(r.Dirs)
	slices.Sort(dirs)
	text := strings.Join(slices.Compact(dirs), " and ")
	if r.Flag != "" {
		text += "; start Capstan with " + r.Flag + " to allow another folder"
	}
	return text
}

// Escapes reports whether an error of [os.Root] means that a path leads out of the root. Package
// os has no value for this error.
func Escapes(err error) bool {
	at, ok := errors.AsType[*fs.PathError](err)
	return ok && strings.Contains(at.Err.Error(), "escapes")
}

// Read reads a regular file, wherever it is. A file with more than limit bytes is an
// error.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNamed(f, name, limit)
}

// Open opens a regular file for reading, wherever it is.
func Open(name string) (*os.File, error) {
	f, err := open(name, regular, os.Stat, os.OpenFile)
	return f, Named(err)
}

// Named returns an error of package os in a form for users. The error for a missing file contains
// no name of a system call.
func Named(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return missing{at}
	}
	return err
}

// missing is the error for a missing file, with its name.
type missing struct{ *fs.PathError }

func (m missing) Error() string { return "no such file: " + m.Path }
func (m missing) Unwrap() error { return m.PathError }

// ReadIn reads a regular file of a folder. A file with more than limit bytes is an
// error. The errors do not repeat the name unless they come from package os.
func ReadIn(in *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(in, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// ReplaceIn writes a file of a folder, and makes the folders that lead to it. A reader sees
// either the old content or the new one.
func ReplaceIn(in *os.Root, name string, content []byte, mode fs.FileMode) (err error) {
	parent := path.Dir(name)
	if err := in.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	draft := path.Join(parent, ".capstan-"+rand.Text()+".tmp")
	f, err := in.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = in.Rename(draft, name)
	}
	if err != nil {
		in.Remove(draft)
	}
	return err
}

// OpenIn opens a regular file of a folder for reading.
func OpenIn(in *os.Root, name string) (*os.File, error) {
	return open(name, regular, in.Stat, in.OpenFile)
}

// OpenDirIn opens a folder below a folder for reading.
func OpenDirIn(in *os.Root, name string) (*os.File, error) {
	return open(name, directory, in.Stat, in.OpenFile)
}

// open examines a file before it opens it, because opening a device may have effects. It examines
// the file again afterwards, because another file may have replaced it.
func open(name string, want func(fs.FileMode) error, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(name)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Op = "open"
	}
	if err != nil {
		return nil, err
	}
	if err := want(info.Mode()); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := openFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = want(info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func regular(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return errors.New("is a directory")
	case !mode.IsRegular():
		return errors.New("not a regular file")
	}
	return nil
}

func directory(mode fs.FileMode) error {
	if !mode.IsDir() {
		return errors.New("not a directory")
	}
	return nil
}

// readAll reads a file, which may grow at the same time.
func readAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, tooLarge(info.Size(), limit)
	}
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead)
	size, err := text.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && size > limit {
		err = tooLarge(size, limit)
	}
	if err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes are more than the limit of %d", ErrTooLarge, size, limit)
}

func readNamed(f *os.File, name string, limit int64) ([]byte, error) {
	text, err := readAll(f, limit)
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return text, err
}
