package inspectors

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/hints"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

// file checks a path of the worktree.
func (c check) file(ctx context.Context, n *inspection) finding {
	if c.has("absent") && len(c.Clauses) > 1 {
		return blocked("the hint %q cannot be read: nothing more can be asked of an absent file", clip(c.Text, 200))
	}
	if n.tree == nil {
		return blocked("%v", n.noTree)
	}
	name, err := n.tree.Local(c.Args[0])
	if err != nil {
		return blocked("%v", err)
	}
	info, err := n.tree.Stat(name)
	if err != nil {
		return blocked("%v", err)
	}
	exists := info != nil
	record := request.FileCheck{Path: name, Exists: &exists}
	f := c.judgeFile(ctx, n, name, info, &record)
	record.Note = clip(f.message, 500)
	n.cite(fmt.Sprintf("file_checks/%d", len(n.evidence.FileChecks)))
	n.evidence.FileChecks = append(n.evidence.FileChecks, record)
	return f
}

// has reports whether a check has one of the clauses.
func (c check) has(words ...string) bool {
	return slices.ContainsFunc(c.Clauses, func(one hints.Clause) bool { return slices.Contains(words, one.Word) })
}

func (c check) judgeFile(ctx context.Context, n *inspection, name string, info fs.FileInfo, record *request.FileCheck) finding {
	switch {
	case info == nil && c.has("absent"):
		return holds("%s does not exist", name)
	case info == nil:
		return fails("create "+name, "%s does not exist", name)
	case c.has("absent"):
		return fails("remove "+name, "%s exists, which it must not", name)
	case info.IsDir() && c.has("size", "contains", "lacks", "matches"):
		return fails("make "+name+" a file", "%s is a directory, and has neither size nor content", name)
	case info.IsDir():
		return holds("%s exists, a directory", name)
	case strings.HasSuffix(c.Args[0], "/"):
		return fails("make "+name+" a directory", "%s is no directory", name)
	case !info.Mode().IsRegular():
		return blocked("%s: not a regular file", name)
	}
	size := info.Size()
	record.SizeBytes = &size
	return sum(append([]finding{c.judgeSize(name, size)}, c.judgeContent(ctx, n, name, record)...))
}

func (c check) judgeSize(name string, bytes int64) finding {
	for _, s := range c.Clauses {
		if s.Word == "size" && !s.Holds(bytes) {
			operator := cmp.Or(s.Operator, "=")
			return fails(fmt.Sprintf("give %s a size %s %d bytes", name, operator, s.Number), "%s has %d bytes, not %s %d", name, bytes, operator, s.Number)
		}
	}
	return holds("%s exists with %d bytes", name, bytes)
}

func (c check) judgeContent(ctx context.Context, n *inspection, name string, record *request.FileCheck) []finding {
	if !c.has("contains", "lacks", "matches") {
		return nil
	}
	text, err := readFile(n.tree, name, n.limits.Bytes)
	if err != nil {
		return []finding{blocked("%s: %v", name, err)}
	}
	inside := text.expect(ctx, name, c.Clauses, "contains", "matches")
	as := sum(inside).status == request.Pass
	if len(inside) > 0 && sum(inside).status != request.Blocked && !(as && len(text.bytes) == 0) { // nothing contains nothing
		record.ContainsExpected = &as
	}
	return append(inside, text.expect(ctx, name, c.Clauses, "lacks")...)
}

// A content is the start of a text, and whether there is more.
type content struct {
	bytes []byte
	cut   bool
}

// expect returns a finding for each clause with one of the words.
func (c content) expect(ctx context.Context, name string, clauses []hints.Clause, words ...string) (all []finding) {
	for _, one := range clauses {
		if slices.Contains(words, one.Word) {
			all = append(all, c.compare(ctx, name, one))
		}
	}
	return all
}

// compare checks a clause. The finding is blocked if the content was not read to its end,
// or if a pattern takes too much work.
func (c content) compare(ctx context.Context, name string, e hints.Clause) finding {
	found, what := bytes.Contains(c.bytes, []byte(e.Text)), fmt.Sprintf("%q", clip(e.Text, 200))
	if e.Word == "matches" {
		var err error
		if found, err = e.Pattern.MatchWithin(patterns.NewBudget(ctx.Err), string(c.bytes)); err != nil {
			return blocked("%s: %v", name, err)
		}
		what = "a match of " + what
	}
	switch {
	case c.cut && !found:
		return blocked("%s has no %s in its first %d bytes, and more was not read", name, what, len(c.bytes))
	case found && e.Word != "lacks":
		return holds("%s contains %s", name, what)
	case found:
		return fails(fmt.Sprintf("remove %s from %s", what, name), "%s contains %s, which it must not", name, what)
	case e.Word == "lacks":
		return holds("%s does not contain %s", name, what)
	}
	return fails(fmt.Sprintf("make %s contain %s", name, what), "%s does not contain %s", name, what)
}

// readFile reads a regular file of the worktree up to a number of bytes.
func readFile(t *worktree.Tree, name string, limit int64) (content, error) {
	f, err := t.File(name)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	return readContent(f, limit)
}

func readContent(r io.Reader, limit int64) (content, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(text)) > limit {
		return content{text[:limit], true}, err
	}
	return content{text, false}, err
}
