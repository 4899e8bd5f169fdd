package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/pins"
)

// fileTools returns read_file, write_file and list_files. They use only files below the
// directory root, or below the working directory if root is empty. Paths with "..",
// absolute paths and symbolic links to other places fail. Files are UTF-8. Maximum: 10
// MiB. In a run, write_file fails for files that the run depends on, see package runner.
func fileTools(root string) []Tool {
	root = cmp.Or(root, ".")
	d := directory(root)
	write := New("write_file", "Write a text file and create its directories. An existing file is replaced.", d.write).WithEffect(Writes)
	write.Idempotent = true // a repeated call writes the same file
	return []Tool{
		New("read_file", "Read a text file.", d.read).WithEffect(Reads),
		write,
		New("list_files", "List the files in a directory. Names of directories end with a slash.", d.list).WithEffect(Reads),
	}
}

// A directory is the root of the file tools.
type directory string

type readFile struct {
	Path string `json:"path" jsonschema:"the file, relative to the working directory"`
}

func (d directory) read(_ context.Context, a readFile) (any, error) {
	root, name, err := d.open(a.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := readText(root, name)
	if err != nil {
		return nil, plainError(a.Path, err)
	}
	return text, nil
}

// open opens the directory and returns the cleaned path in it. The root checks
// the path.
func (d directory) open(name string) (*os.Root, string, error) {
	switch {
	case name == "":
		return nil, "", errors.New("the path is empty")
	case len(name) > maxPath:
		return nil, "", fmt.Errorf("a path of %d bytes is too long", len(name))
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return nil, "", fmt.Errorf("path %q is outside the working directory: give one relative to it, without leaving it", name)
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, "", fmt.Errorf("the working directory: %w", err)
	}
	return root, path.Clean(filepath.ToSlash(name)), nil
}

// maxPath is the maximum length of a path in bytes.
const maxPath = 4096

func regular(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return errors.New("is a directory")
	case !mode.IsRegular():
		return errors.New("not a regular file")
	}
	return nil
}

func readText(root *os.Root, name string) (string, error) {
	text, err := files.ReadIn(root, name, maxText)
	if err != nil {
		return "", err
	}
	return string(text), checkText(text)
}

func tooLarge(size int64) error {
	return fmt.Errorf("%d bytes exceed the maximum of %d", size, maxText)
}

func checkText(text []byte) error {
	if len(text) > maxText {
		return tooLarge(int64(len(text)))
	}
	if i := invalidAt(text); i >= 0 {
		return fmt.Errorf("not text: byte %d is not UTF-8", i)
	}
	return nil
}

// invalidAt returns the index of the first byte that is not UTF-8, or -1.
func invalidAt(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

type writeFile struct {
	Path    string `json:"path" jsonschema:"the file, relative to the working directory"`
	Content string `json:"content" jsonschema:"text of the file"`
}

func (d directory) write(ctx context.Context, a writeFile) (any, error) {
	if strings.HasSuffix(filepath.ToSlash(a.Path), "/") {
		return nil, fmt.Errorf("path %q names a directory", a.Path)
	}
	root, name, err := d.open(a.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := checkText([]byte(a.Content)); err != nil {
		return nil, plainError(a.Path, err)
	}
	if err := pins.From(ctx).Refuse(string(d), name); err != nil {
		return nil, plainError(a.Path, err)
	}
	mode, err := replaceable(root, name)
	if err == nil {
		err = files.ReplaceIn(root, name, []byte(a.Content), mode)
	}
	if err != nil {
		return nil, plainError(a.Path, err)
	}
	return map[string]any{"path": name, "bytes": len(a.Content)}, nil
}

// replaceable returns the permissions to write a file with: those that it has. A file
// that must not be written is an error.
func replaceable(root *os.Root, name string) (fs.FileMode, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o644, nil
	case err != nil:
		return 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, errors.New("is a symbolic link: write to the file itself")
	}
	return info.Mode().Perm(), regular(info.Mode())
}

// plainError returns an error with the path of the call and without the system
// call.
func plainError(name string, err error) error {
	var inside *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &inside):
		err = inside.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}
