package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// notWritten returns the error of a file that could not be written, with the
// exit status for a failure or for a wrong name.
func notWritten(err error) error {
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Op == "write" {
		return &exit{exitBroken, err}
	}
	return &exit{exitUsage, err}
}

// canBe returns an error if a file cannot be written at the end of a long
// command, as far as this can be checked without creating it.
func canBe(name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = os.Stat(filepath.Dir(name)); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("no such folder: %s", filepath.Dir(name))
		}
	} else if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", name)
	}
	return err
}

// privateMode is the mode of a new file with the texts of a run. No other user
// may read it.
const privateMode fs.FileMode = 0o600

// writeNew writes a new file. An existing file is an error.
func writeNew(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already; nothing was written over", name)
		}
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// writeBeside creates the folder of a file and replaces the file as [writeWhole] does.
func writeBeside(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return writeWhole(name, text)
}

// writeOver replaces the text of an existing file as [writeWhole] does. It follows a
// symbolic link and replaces the file behind it.
func writeOver(name string, text []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	return writeWhole(name, text)
}

// writeWhole replaces a file with one rename: on an error the old file is unchanged.
// An existing file keeps its mode; the umask decides the mode of a new one.
func writeWhole(name string, text []byte) error {
	draft := filepath.Join(filepath.Dir(name), ".new-"+rand.Text())
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(draft) // after an error; the rename has moved it otherwise
	if info, e := os.Stat(name); e == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		_, err = f.Write(text)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(draft, name)
}

// addLine appends a line to a file and creates the file with its folder. After a
// failed write it removes the part that was written.
func addLine(name string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	n, err := f.Write(line)
	if info, e := f.Stat(); err != nil && n > 0 && e == nil {
		err = errors.Join(err, f.Truncate(info.Size()-int64(n)))
	}
	return errors.Join(err, f.Close())
}
