package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
)

func sortRecords(list []Record) {
	slices.SortStableFunc(list, func(a, b Record) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run)) })
}

// changedFiles lists the files that a session changed, once.
type changedFiles struct {
	base  string // the commit at the start of the session
	event *Event
	texts []Text
	err   error
	read  bool
}

// list returns the changed files with their contents: those that differ from the commit at
// the start of the session, and untracked files.
func (c *changedFiles) list(ctx context.Context) ([]Text, error) {
	if c.read {
		return c.texts, c.err
	}
	c.read = true
	root := c.event.Root
	base := cmp.Or(c.base, "HEAD")
	tracked, err := git(ctx, root, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", base, "--")
	if err != nil && base == "HEAD" && head(ctx, root) == "" { // a repository without a commit
		tracked, err = git(ctx, root, "ls-files", "-z")
	}
	untracked, err2 := git(ctx, root, "ls-files", "-z", "--others", "--exclude-standard")
	if c.err = errors.Join(err, err2); c.err != nil {
		return nil, c.err
	}
	for _, name := range strings.Split(tracked+untracked, "\x00") {
		if name == "" {
			continue
		}
		content, err := files.Read(filepath.Join(root, filepath.FromSlash(name)), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		c.texts = append(c.texts, Text{File: name, Content: string(content), Err: err})
	}
	return c.texts, nil
}

// before returns a file as it was at the start of the session; "" if it did not exist.
func (c *changedFiles) before(ctx context.Context, name string) string {
	text, err := git(ctx, c.event.Root, "cat-file", "blob", cmp.Or(c.base, "HEAD")+":"+name)
	if err != nil {
		return ""
	}
	return text
}

// head returns the commit that is checked out; "" without one.
func head(ctx context.Context, root string) string {
	id, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(id)
}

// git runs a command of git that reads the repository. The programs that the configuration
// of the repository names do not run.
func git(ctx context.Context, root string, args ...string) (string, error) {
	args = append([]string{"-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
