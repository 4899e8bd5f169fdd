package tool

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
)

// maxListed is the maximum number of names in a result. maxScanned is the maximum
// number of entries that are read from a directory.
const (
	maxListed  = 1000
	maxScanned = 100_000
)

type listFiles struct {
	Path      string `json:"path,omitempty" jsonschema:"directory, relative to the working directory. Default: the working directory"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"also list subdirectories"`
}

// A listing is the result of list_files. Its paths are relative to the listed
// directory and sorted.
type listing struct {
	Path      string   `json:"path"`
	Entries   []string `json:"entries"`
	Truncated bool     `json:"truncated"` // reports whether names are missing
}

func (d directory) list(ctx context.Context, a listFiles) (any, error) {
	a.Path = cmp.Or(a.Path, ".")
	root, name, err := d.open(a.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l := listing{Path: name, Entries: []string{}}
	if err := l.add(ctx, root, "", a.Recursive); err != nil {
		return nil, plainError(a.Path, err)
	}
	return l, nil
}

// add appends the entries of the directory below, which is relative to the listed
// directory. It does not follow symbolic links.
func (l *listing) add(ctx context.Context, root *os.Root, below string, deep bool) error {
	entries, more, err := scan(root, path.Join(l.Path, below), maxScanned)
	if err != nil {
		return err
	}
	l.Truncated = l.Truncated || more
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(l.Entries) == maxListed {
			l.Truncated = true
			return nil
		}
		name := path.Join(below, e.Name())
		if !e.IsDir() {
			l.Entries = append(l.Entries, strings.ToValidUTF8(name, "\uFFFD"))
			continue
		}
		l.Entries = append(l.Entries, strings.ToValidUTF8(name, "\uFFFD")+"/")
		if !deep {
			continue
		}
		// Entries of a directory that cannot be read are omitted.
		if err := l.add(ctx, root, name, true); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// scan returns the sorted entries of a directory, limit at most. It reports whether
// there are more.
func scan(root *os.Root, name string, limit int) ([]fs.DirEntry, bool, error) {
	f, err := files.OpenDirIn(root, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	entries, err := f.ReadDir(limit + 1)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	more := len(entries) > limit
	if more {
		entries = entries[:limit]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, nil
}
