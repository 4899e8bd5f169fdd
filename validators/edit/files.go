package edit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/files"
)

// maxText is the longest file that is read, in bytes.
const maxText = 16 << 20

// A folder is the directory that no path leaves: not with "..", nor with an
// absolute path that points elsewhere, nor through a symbolic link.
type folder struct {
	dir  string
	root *os.Root
}

func openFolder(dir string) (*folder, error) {
	dir = cmp.Or(dir, ".")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	return &folder{dir, root}, nil
}

// local gives the name of a path under the folder, with slashes. An absolute
// path may point into it.
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

// errTooLong is what a file longer than maxText is.
var errTooLong = fmt.Errorf("longer than %d MiB", maxText>>20)

func (f *folder) read(name string) ([]byte, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	text, err := files.ReadIn(f.root, local, maxText)
	if errors.Is(err, files.ErrTooLarge) {
		err = errTooLong
	}
	return text, bare(err)
}

// bare leaves the path out of an error: the problem names it already.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// content is what a file holds, or stands in for it. Plain values are for YAML
// alone.
type content struct {
	text  []byte
	value any
	err   error
}

func (f *folder) content(file File) content {
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

func bounded(text []byte) content {
	if len(text) > maxText {
		return content{err: errTooLong}
	}
	return content{text: text}
}

// plainText gives a text without its byte order mark and with plain line ends.
func (c content) plainText() (string, error) {
	switch {
	case c.err != nil:
		return "", c.err
	case c.value != nil:
		return "", errors.New("must be a text")
	case !utf8.Valid(c.text):
		return "", errors.New("not UTF-8 text")
	}
	return unified(string(c.text)), nil
}
