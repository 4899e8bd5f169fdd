package tool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/internal/pins"
)

// Files returns read_file, write_file and list_files. They work in the directory root
// (empty: the working directory) and cannot leave it: not with "..", an absolute path
// or a symbolic link, even if the link changes meanwhile. Files are UTF-8 of at most
// 10 MiB. In a run, write_file refuses the files that decide it, see package runner.
func Files(root string) []Tool {
	root = cmp.Or(root, ".")
	d := directory(root)
	write := New("write_file", "Write a text file, whole, and the directories it is in; one that exists is replaced.", d.write).That(Writes)
	write.Idempotent = true // the same file, whole, again
	return []Tool{
		New("read_file", "Read a text file.", d.read).That(Reads),
		write,
		New("list_files", "List the files in a directory; names of directories end in a slash.", d.list).That(Reads),
	}
}

// A directory is where the file tools work.
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

// open opens the directory itself and cleans a path in it. What the path means
// there, the root alone decides.
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

// maxPath is the longest path, in bytes, that is looked at.
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

// invalidAt is where text stops to be UTF-8, or -1.
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
	Content string `json:"content" jsonschema:"the whole text of the file"`
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
	if err := replace(root, name, a.Content); err != nil {
		return nil, plainError(a.Path, err)
	}
	return map[string]any{"path": name, "bytes": len(a.Content)}, nil
}

// replace puts a text in a file's place in one go: who reads meanwhile finds
// the old text or the new.
func replace(root *os.Root, name, content string) error {
	mode, err := replaceable(root, name)
	if err != nil {
		return err
	}
	parent := path.Dir(name)
	if err := root.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	draft := path.Join(parent, ".capstan-"+rand.Text()+".tmp")
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = root.Rename(draft, name)
	}
	if err != nil {
		root.Remove(draft)
	}
	return err
}

// replaceable tells whether name may be written, and the permissions to write
// it with: those it has, within the process's mask.
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

// plainError says what is wrong with the path as the caller wrote it, without
// the system call.
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
