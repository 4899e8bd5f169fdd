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

// maxListed bounds the names that list_files gives, maxScanned those it looks
// at in one directory.
const (
	maxListed  = 1000
	maxScanned = 100_000
)

type listFiles struct {
	Path      string `json:"path,omitempty" jsonschema:"the directory, relative to the working directory; the working directory itself if left out"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"also list what is in the directories below"`
}

// A listing is what list_files found: paths relative to the directory listed,
// in order, at most 1000 of them.
type listing struct {
	Path      string   `json:"path"`
	Entries   []string `json:"entries"`
	Truncated bool     `json:"truncated"` // there is more
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

// add lists the directory below, relative to the one listed. Symbolic links
// are named, not followed.
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
		// A directory that cannot be read or is gone by now is named, no more.
		if err := l.add(ctx, root, name, true); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// scan reads a directory's entries, most at most, in order of their names and
// says whether there are more.
func scan(root *os.Root, name string, most int) ([]fs.DirEntry, bool, error) {
	f, err := files.OpenDirIn(root, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most + 1)
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	more := len(entries) > most
	if more {
		entries = entries[:most]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, nil
}
