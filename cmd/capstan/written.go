package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// notWritten is the error of a file that was to be written, nil where there is
// none: what broke where it was begun, else the fault of whoever named it.
func notWritten(err error) error {
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Op == "write" {
		return &exit{exitBroken, err}
	}
	return &exit{exitUsage, err}
}

// canBe tells why a file that is written at the end of long work will not be, as far
// as can be seen without making it.
func canBe(name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(name))
	} else if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", name)
	}
	return err
}

// writeNew writes a file that must not be there yet.
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

// writeBeside writes a file whole or not at all, with its folder.
func writeBeside(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return writeWhole(name, text, 0o644)
}

// writeOver writes another text into a file of somebody's, who has the old one
// where that cannot be done. A link stays one.
func writeOver(name string, text []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return writeWhole(name, text, info.Mode().Perm())
}

func writeWhole(name string, text []byte, mode fs.FileMode) error {
	draft, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name()) // where it is not renamed
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Chmod(mode), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), name)
}

// addLine adds a line to a file, with its folder: the whole of it or nothing, as
// what is added next would stand behind the half.
func addLine(name string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	n, err := f.Write(line)
	if info, e := f.Stat(); err != nil && n > 0 && e == nil {
		err = errors.Join(err, f.Truncate(info.Size()-int64(n)))
	}
	return errors.Join(err, f.Close())
}
