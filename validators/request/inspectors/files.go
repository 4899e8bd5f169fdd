package inspectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/request"
)

// A fileCheck looks at a path of the worktree.
type fileCheck struct {
	path   string
	absent bool
	dir    bool // the path ends with a slash
	sizes  []size
	expect []expectation
}

// A size is a demand on a file's size in bytes.
type size struct {
	operator string
	bytes    int64
}

func (fileCheck) in() request.Type { return request.Code }

// parseFile reads: path [absent] [size OP N] [contains TEXT] [lacks TEXT]
// [matches /RE/], the latter four as often as need be.
func parseFile(l *lexer) (check, error) {
	name, err := l.argument("file:")
	if err != nil {
		return nil, err
	}
	c := fileCheck{path: name, dir: strings.HasSuffix(name, "/")}
	if err := l.each(c.clause); err != nil {
		return nil, err
	}
	if c.absent && (c.sizes != nil || c.expect != nil) {
		return nil, errors.New("nothing more can be asked of an absent file")
	}
	return c, nil
}

func (c *fileCheck) clause(w word, l *lexer) error {
	e, is, err := parseExpectation(w, l)
	switch {
	case err != nil:
		return err
	case is:
		c.expect = append(c.expect, e)
		return nil
	case w.is("absent"):
		c.absent = true
		return nil
	case w.is("exists"):
		return nil
	case w.is("size"):
		s, err := parseSize(l)
		c.sizes = append(c.sizes, s)
		return err
	}
	return fmt.Errorf("%s is none of exists, absent, size, contains, lacks, matches", w)
}

func parseSize(l *lexer) (size, error) {
	text, err := l.argument("size")
	if err != nil {
		return size{}, err
	}
	number := strings.TrimLeft(text, "<>=")
	s := size{operator: cmp.Or(strings.TrimSuffix(text, number), "=")}
	if number == "" {
		if number, err = l.argument(s.operator); err != nil {
			return size{}, err
		}
	}
	if s.bytes, err = strconv.ParseInt(number, 10, 64); err != nil {
		return size{}, fmt.Errorf("%q is no number of bytes", number)
	}
	switch s.operator {
	case "=", ">=", "<=", ">", "<":
		return s, nil
	}
	return size{}, fmt.Errorf("%q is none of >=, >, <=, <, =", s.operator)
}

func (s size) holds(bytes int64) bool {
	switch s.operator {
	case ">=":
		return bytes >= s.bytes
	case "<=":
		return bytes <= s.bytes
	case ">":
		return bytes > s.bytes
	case "<":
		return bytes < s.bytes
	}
	return bytes == s.bytes
}

func (c fileCheck) inspect(ctx context.Context, n *inspection) finding {
	if n.tree == nil {
		return blocked("%v", n.noTree)
	}
	name, err := n.tree.Local(c.path)
	if err != nil {
		return blocked("%v", err)
	}
	info, err := n.tree.Stat(name)
	if err != nil {
		return blocked("%v", err)
	}
	record := request.FileCheck{Path: name}
	exists := info != nil
	record.Exists = &exists
	f := c.judge(ctx, n, name, info, &record)
	record.Note = clip(f.said, 500)
	n.cite(fmt.Sprintf("file_checks/%d", len(n.evidence.FileChecks)))
	n.evidence.FileChecks = append(n.evidence.FileChecks, record)
	return f
}

func (c fileCheck) judge(ctx context.Context, n *inspection, name string, info fs.FileInfo, record *request.FileCheck) finding {
	switch {
	case info == nil && c.absent:
		return holds("%s does not exist", name)
	case info == nil:
		return fails("create "+name, "%s does not exist", name)
	case c.absent:
		return fails("remove "+name, "%s exists, which it must not", name)
	case info.IsDir():
		return c.judgeDir(name)
	case c.dir:
		return fails("make "+name+" a directory", "%s is no directory", name)
	case !info.Mode().IsRegular():
		return blocked("%s: not a regular file", name)
	}
	bytes := info.Size()
	record.SizeBytes = &bytes
	return sum(append([]finding{c.judgeSize(name, bytes)}, c.judgeContent(ctx, n, name, record)...))
}

func (c fileCheck) judgeDir(name string) finding {
	if c.sizes != nil || c.expect != nil {
		return fails("make "+name+" a file", "%s is a directory, and has neither size nor content", name)
	}
	return holds("%s exists, a directory", name)
}

func (c fileCheck) judgeSize(name string, bytes int64) finding {
	for _, s := range c.sizes {
		if !s.holds(bytes) {
			return fails(fmt.Sprintf("give %s a size %s %d bytes", name, s.operator, s.bytes),
				"%s has %d bytes, not %s %d", name, bytes, s.operator, s.bytes)
		}
	}
	return holds("%s exists with %d bytes", name, bytes)
}

func (c fileCheck) judgeContent(ctx context.Context, n *inspection, name string, record *request.FileCheck) []finding {
	if c.expect == nil {
		return nil
	}
	text, err := readFile(n.tree, name, n.limits.Bytes)
	if err != nil {
		return []finding{blocked("%s: %v", name, err)}
	}
	found := text.expectAll(ctx, name, c.expect)
	var inside []finding
	for i, e := range c.expect {
		if e.word != "lacks" {
			inside = append(inside, found[i])
		}
	}
	as := sum(inside).status == request.Passed
	if len(inside) > 0 && sum(inside).status != request.Unreachable && !(as && len(text.bytes) == 0) { // nothing contains nothing
		record.ContainsExpected = &as
	}
	return found
}
