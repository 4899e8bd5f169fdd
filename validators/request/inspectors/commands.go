package inspectors

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/validators/request"
)

// A commandCheck runs a program, which must end with status 0.
type commandCheck struct {
	argv []string
	text string // as it stands in the hint
}

func (commandCheck) in() request.Type { return request.Code }

// parseRun reads a program and its arguments. What only a shell could do is
// refused, lest something else is run than what was meant.
func parseRun(l *lexer) (check, error) {
	text := strings.TrimSpace(l.text)
	if err := noShell(text); err != nil {
		return nil, err
	}
	var argv []string
	for l.more() {
		w, err := l.next()
		if err != nil {
			return nil, err
		}
		argv = append(argv, w.text)
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("no program is named")
	}
	return commandCheck{argv: argv, text: text}, nil
}

// noShell refuses what would mean something to a shell, out of quotes.
func noShell(text string) error {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case strings.IndexByte("\"'", c) >= 0:
			i += closing(text[i+1:], c) + 1
		case strings.IndexByte("|&<>*`()", c) >= 0, c == '$' && i+1 < len(text) && text[i+1] != ' ':
			return fmt.Errorf("an unquoted %c is for a shell, and no shell is asked", c)
		}
	}
	return nil
}

func (c commandCheck) inspect(ctx context.Context, n *inspection) finding {
	switch {
	case !n.AllowExec:
		return blocked("the command %q is not run: running commands needs --allow-exec", c.text)
	case n.tree == nil:
		return blocked("%v", n.noTree)
	}
	if err := n.program(c.argv[0]); err != nil {
		return blocked("the program %v", err)
	}
	out, err := process.Run(ctx, process.Command{
		Argv: c.argv, Dir: n.tree.Dir, Env: n.Env, Timeout: -1, MaxOutput: n.limits.Bytes,
	})
	if errors.Is(err, process.ErrNotStarted) {
		return blocked("%v", err)
	}
	results := request.TestResults{Command: clip(c.text, 500), Output: snippet(out)}
	tally := request.ReadOutput(string(out.Stdout) + "\n" + string(out.Stderr))
	if err == nil {
		results.ExitCode = &out.ExitCode
		into(&results, tally)
	}
	n.ran(results)
	if err != nil {
		return blocked("%v", err)
	}
	return c.judge(results, tally)
}

// into sets the counts of a run. A program that fails for another reason than a test has
// counts that would contradict its exit code: they are left out.
func into(r *request.TestResults, t request.Tally) {
	if t.Counted && (*r.ExitCode == 0 || t.Failed > 0) {
		r.Passed, r.Failed, r.Skipped = &t.Passed, &t.Failed, &t.Skipped
	}
}

func (c commandCheck) judge(r request.TestResults, t request.Tally) finding {
	said := fmt.Sprintf("%q ended with status %d", c.text, *r.ExitCode)
	if r.Passed != nil {
		said += fmt.Sprintf(": %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
	}
	switch {
	case *r.ExitCode != 0 && r.Output != "":
		return fails(fmt.Sprintf("make %q end with status 0", c.text), "%s; it printed: %s", said, clip(r.Output, 300))
	case *r.ExitCode != 0:
		return fails(fmt.Sprintf("make %q end with status 0", c.text), "%s", said)
	case t.Failed > 0:
		return fails(fmt.Sprintf("make %q pass", c.text), "%s; it printed: %s", said, clip(t.Failure, 300))
	case t.Failure != "":
		return blocked("%s; it printed: %s", said, clip(t.Failure, 300))
	case t.None():
		return blocked("%s, a run of no tests", said)
	}
	return holds("%s", said)
}

// program refuses a program by a path that leaves the worktree. One without a
// slash is looked up in PATH.
func (n *inspection) program(name string) error {
	if !strings.ContainsRune(filepath.ToSlash(name), '/') {
		return nil
	}
	at, err := n.tree.Local(name)
	if err != nil {
		return err
	}
	if info, err := n.tree.Stat(at); err != nil || info == nil {
		return fmt.Errorf("%q is not in the worktree", name)
	}
	return nil
}

// ran stores the results of a command. The protocol has room for one: the first that did
// not end well, else the first.
func (n *inspection) ran(r request.TestResults) {
	kept := n.evidence.TestResults
	if kept == nil || wellEnded(*kept) && !wellEnded(r) {
		n.evidence.TestResults = &r
		n.cite("test_results")
	}
}

func wellEnded(r request.TestResults) bool {
	return r.ExitCode != nil && *r.ExitCode == 0 && (r.Failed == nil || *r.Failed == 0)
}

// snippet is the first 500 characters of what a program printed.
func snippet(out process.Output) string {
	text := out.Stdout
	if len(out.Stderr) > 0 {
		text = append(append(text[:len(text):len(text)], '\n'), out.Stderr...)
	}
	return clip(strings.TrimSpace(string(text[:min(len(text), 8<<10)])), 500)
}
