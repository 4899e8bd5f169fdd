package inspectors

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/testoutput"
)

// run runs a program in the worktree. It must end with status 0.
func (c check) run(ctx context.Context, n *inspection) finding {
	switch {
	case !n.AllowExec:
		return blocked("the command %q is not run: running commands needs --allow-exec", c.Text)
	case n.tree == nil:
		return blocked("%v", n.noTree)
	}
	if err := n.program(c.Args[0]); err != nil {
		return blocked("the program %v", err)
	}
	out, err := process.Run(ctx, process.Command{
		Argv: c.Args, Dir: n.tree.Dir, Env: n.Env, Timeout: -1, MaxOutput: n.limits.Bytes,
	})
	if errors.Is(err, process.ErrNotStarted) {
		return blocked("%v", err)
	}
	results := request.TestResults{Command: clip(c.Text, 500), Output: snippet(out)}
	tally := testoutput.Read(string(out.Stdout) + "\n" + string(out.Stderr))
	if err == nil {
		results.ExitCode = &out.ExitCode
		into(&results, tally)
	}
	n.ran(results)
	if err != nil {
		return blocked("%v", err)
	}
	return c.judgeRun(results, tally)
}

// into sets the counts of a run. A program that fails for another reason than a test has
// counts that would contradict its exit code: they are left out.
func into(r *request.TestResults, t testoutput.Tally) {
	if t.Counted && (*r.ExitCode == 0 || t.Failed > 0) {
		r.Passed, r.Failed, r.Skipped = &t.Passed, &t.Failed, &t.Skipped
	}
}

func (c check) judgeRun(r request.TestResults, t testoutput.Tally) finding {
	message := fmt.Sprintf("%q ended with status %d", c.Text, *r.ExitCode)
	if r.Passed != nil {
		message += fmt.Sprintf(": %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
	}
	switch {
	case *r.ExitCode != 0 && r.Output != "":
		return fails(fmt.Sprintf("make %q end with status 0", c.Text), "%s; it printed: %s", message, clip(r.Output, 300))
	case *r.ExitCode != 0:
		return fails(fmt.Sprintf("make %q end with status 0", c.Text), "%s", message)
	case t.Failed > 0:
		return fails(fmt.Sprintf("make %q pass", c.Text), "%s; it printed: %s", message, clip(t.Failure, 300))
	case t.Failure != "":
		return blocked("%s; it printed: %s", message, clip(t.Failure, 300))
	case t.None():
		return blocked("%s, a run of no tests", message)
	}
	return holds("%s", message)
}

// program rejects a program path outside the worktree. A name without a slash
// is looked up in PATH.
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
	results := n.evidence.TestResults
	if results == nil || wellEnded(*results) && !wellEnded(r) {
		n.evidence.TestResults = &r
		n.cite("test_results")
	}
}

func wellEnded(r request.TestResults) bool {
	return r.ExitCode != nil && *r.ExitCode == 0 && (r.Failed == nil || *r.Failed == 0)
}

// snippet returns the first 500 characters of a program's output.
func snippet(out process.Output) string {
	text := out.Stdout
	if len(out.Stderr) > 0 {
		text = append(append(text[:len(text):len(text)], '\n'), out.Stderr...)
	}
	return clip(strings.TrimSpace(string(text[:min(len(text), 8<<10)])), 500)
}
