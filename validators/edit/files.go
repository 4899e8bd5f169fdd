package edit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/strictyaml"
)

// maxText is the longest file, in bytes.
const maxText = 16 << 20

var errTooLong = fmt.Errorf("longer than %d MiB", maxText>>20)

// A content is the text of a file, or a plain value in place of YAML.
type content struct {
	text  []byte
	value any
	err   error
}

// plainText returns a text without its byte order mark and with plain line ends.
func (c content) plainText() (string, error) {
	switch {
	case c.err != nil:
		return "", c.err
	case c.value != nil:
		return "", errors.New("must be a text")
	case !utf8.Valid(c.text):
		return "", errors.New("not UTF-8 text")
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(c.text), string(strictyaml.ByteOrderMark)), "\r\n", "\n")
	switch {
	case strings.TrimSpace(text) == "":
		return "", errors.New("the file is empty")
	case strings.ContainsRune(text, 0):
		return "", errors.New("the file has NUL characters: it is not a text")
	}
	return text, nil
}

// A folder reads files below a root and collects problems. No path may leave
// the root by "..", as an absolute path, or through a symbolic link.
type folder struct {
	dir   string
	wrong []inputProblem
}

func (f *folder) problem(file string, err error) {
	if err != nil {
		f.wrong = append(f.wrong, inputProblem{File: file, Message: clean(err.Error())})
	}
}

// local returns a path relative to the root, with slashes. A report is the same
// wherever the root is.
func (f *folder) local(name string) (string, error) {
	if filepath.IsAbs(name) {
		dir, err := filepath.Abs(f.dir)
		if err != nil {
			return "", err
		}
		if name, err = filepath.Rel(dir, name); err != nil {
			return "", err
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", errors.New("the path leads out of the root")
	}
	return path.Clean(filepath.ToSlash(name)), nil
}

// take returns the content of a file.
func (f *folder) take(file File) content {
	switch given := file.Content.(type) {
	case nil:
		if file.Path == "" {
			return content{err: errors.New("missing")}
		}
		text, err := f.read(file.Path)
		return content{text: text, err: err}
	case string:
		return bounded([]byte(given))
	case []byte:
		return bounded(given)
	default:
		return content{value: given}
	}
}

func (f *folder) read(name string) ([]byte, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	text, err := files.Root{Dirs: []string{f.dir}}.Read(filepath.Join(f.dir, local), maxText)
	if errors.Is(err, files.ErrTooLarge) {
		err = errTooLong
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // the problem names the path already
	}
	return text, err
}

func bounded(text []byte) content {
	if len(text) > maxText {
		return content{err: errTooLong}
	}
	return content{text: text}
}

// yaml parses a file and passes its root to a function.
func (f *folder) yaml(role string, file File, c content, into func(*reader, *yaml.Node)) {
	r := newReader(name(role, file))
	if c.err != nil {
		r.At(nil, "%v", c.err)
	} else if root := r.Node(c.text, c.value); root != nil {
		into(r, root)
	}
	f.wrong = append(f.wrong, r.Problems...)
}

// name is the name of a file in a message.
func name(role string, file File) string { return cmp.Or(clean(file.Path), role) }
