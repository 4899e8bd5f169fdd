package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
)

// changedFiles lists the files that a session changed, once.
type changedFiles struct {
	base  string // the commit at the start of the session
	event *Event
	names []string
	texts []Text
	err   error
	read  bool
	known *string // the tree
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
		c.names = append(c.names, name)
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

// tree returns the name of the tree of all files, as they are; "" outside of a repository.
// The files are read without the filters that the repository configures.
func (c *changedFiles) tree(ctx context.Context) string {
	if c.known == nil {
		tree, err := c.writeTree(ctx)
		if err != nil {
			tree = ""
		}
		c.known = &tree
	}
	return *c.known
}

// gitQuoted writes a name between the quotes of git.
var gitQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (c *changedFiles) writeTree(ctx context.Context) (string, error) {
	if _, err := c.list(ctx); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "capstan-tree-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	run := func(input string, args ...string) (string, error) {
		return gitWith(ctx, c.event.Root, input, []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}, args...)
	}
	if base := cmp.Or(c.base, head(ctx, c.event.Root)); base != "" {
		if _, err := run("", "read-tree", base); err != nil {
			return "", err
		}
	}
	var index, paths strings.Builder
	var modes, regular []string
	for _, name := range c.names {
		at := filepath.Join(c.event.Root, filepath.FromSlash(name))
		info, err := os.Lstat(at)
		switch {
		case err != nil: // it is removed
			fmt.Fprintf(&index, "0 %040d\t%s\x00", 0, name)
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(at)
			if err != nil {
				return "", err
			}
			blob, err := run(target, "hash-object", "-w", "--stdin")
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&index, "120000 %s\t%s\x00", strings.TrimSpace(blob), name)
		case !info.Mode().IsRegular() || info.Size() > maxFile:
			return "", fmt.Errorf("%s is no file of at most %d bytes", name, maxFile)
		default:
			mode := "100644"
			if info.Mode()&0o111 != 0 {
				mode = "100755"
			}
			modes, regular = append(modes, mode), append(regular, name)
			fmt.Fprintf(&paths, "\"%s\"\n", gitQuoted.Replace(name))
		}
	}
	blobs, err := run(paths.String(), "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return "", err
	}
	for i, blob := range strings.Fields(blobs) {
		fmt.Fprintf(&index, "%s %s\t%s\x00", modes[i], blob, regular[i])
	}
	if _, err := run(index.String(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := run("", "write-tree")
	return strings.TrimSpace(tree), err
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
	return gitWith(ctx, root, "", nil, args...)
}

func gitWith(ctx context.Context, root, input string, env []string, args ...string) (string, error) {
	args = append([]string{"-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
