// Package inputs reads inputs and files from the flags of a command line. capstan,
// capstan-temporal and the programs of validators.Main use it:
//
//	f := inputs.Files{Stdin: os.Stdin}
//	input, err := f.Inputs("input.json", []string{"topic=owls", "limit:=3", "text=@draft.md"})
//
// Begin with [Files.Inputs].
package inputs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/files"
)

// maxFile is the maximum size of a file or stream, in bytes.
const maxFile = 512 << 20

// Files reads the files that flags name; "-" is Stdin. A directory, an
// unreadable file and a file over 512 MiB are errors.
type Files struct{ Stdin io.Reader }

// Text returns the content of a file, which must be UTF-8.
func (f Files) Text(name string) (string, error) {
	var text strings.Builder // a builder, so that a large text is not copied
	err := f.read(&text, name)
	if err == nil && !utf8.ValidString(text.String()) {
		err = fmt.Errorf("%s is not UTF-8 text", name)
	}
	return text.String(), err
}

// Bytes returns the content of a file.
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
