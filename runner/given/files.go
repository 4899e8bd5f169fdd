// Package given reads what a command line gives a run: its inputs, the files that
// they name, and the models to ask. capstan and capstan-temporal read it alike.
package given

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/files"
)

// maxFile bounds what is read from one file or stream, in bytes.
const maxFile = 512 << 20

// Files are those that flags name, and what "-" stands for. What is no file, cannot be
// read, or has more than 512 MiB is an error.
type Files struct{ Stdin io.Reader }

// Text reads a file that must be UTF-8.
func (f Files) Text(name string) (string, error) {
	var text strings.Builder // of what may be large there is one copy
	err := f.read(&text, name)
	if err == nil && !utf8.ValidString(text.String()) {
		err = fmt.Errorf("%s is not UTF-8 text", name)
	}
	return text.String(), err
}

// Bytes is [Files.Text] for what may be no text.
func (f Files) Bytes(name string) ([]byte, error) {
	var text bytes.Buffer
	if err := f.read(&text, name); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func (f Files) read(to interface {
	io.Writer
	Grow(n int)
}, name string) error {
	r := f.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return files.Named(err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory", name)
		} else if err == nil && info.Size() <= maxFile {
			to.Grow(int(info.Size()) + bytes.MinRead)
		}
		r = f
	}
	n, err := io.Copy(to, io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case n > maxFile:
		return fmt.Errorf("%s has more than %d MiB", name, maxFile>>20)
	}
	return nil
}
