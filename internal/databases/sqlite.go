package databases

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A File is a file of SQLite as a process opens it.
type File struct {
	Path    string        // absolute, or relative to the working directory
	Mode    string        // of SQLite: ro, rw or rwc
	Wait    time.Duration // for another process that has the file locked
	Options []string      // further parameters of the driver, such as _pragma=foreign_keys(1)
}

// Name returns the name by which the driver opens the file. SQLite then trusts neither
// functions that the file's schema names nor the sizes of its cells.
func (f File) Name() string {
	parameters := append([]string{
		"mode=" + f.Mode, "_pragma=busy_timeout(" + strconv.FormatInt(f.Wait.Milliseconds(), 10) + ")",
		"_pragma=trusted_schema(0)", "_pragma=cell_size_check(1)",
	}, f.Options...)
	return "file:" + (&url.URL{Path: filepath.ToSlash(f.Path)}).EscapedPath() + "?" + strings.Join(parameters, "&")
}
