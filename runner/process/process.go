// Package process runs a child program the careful way: an argument vector and
// no shell, an environment that holds what it was given and no keys beside,
// bounded time and output, and the whole process group gone when Run returns.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/seed61713e19/capstan/runner/internal/fences"
	"github.com/seed61713e19/capstan/runner/internal/pins"
)

// What holds where a [Command] says nothing.
const (
	DefaultTimeout   = 60 * time.Second
	DefaultMaxOutput = 1 << 20 // bytes, of each of the two streams
)

// grace is how long output may still come once the child itself has ended or
// has been killed: a grandchild can hold the pipes open for ever.
const grace = 500 * time.Millisecond

// Why a run gave no result; test with [errors.Is].
var (
	ErrNotStarted    = errors.New("not started")
	ErrTimeout       = errors.New("out of time")
	ErrTooMuchOutput = errors.New("too much output")
)

// A Command is a program to run. Only Argv must be set.
type Command struct {
	Argv      []string      // the program and its arguments; a program without a slash is looked up in PATH
	Dir       string        // working directory; empty: the caller's
	Env       []string      // what it sees beside the plain variables, as [Environment] has it
	Stdin     []byte        // its whole standard input, as a file; empty: none
	Timeout   time.Duration // 0: DefaultTimeout; negative: none but the context's
	MaxOutput int64         // 0: DefaultMaxOutput
	Tail      int           // more than 0: however much is printed, so many bytes are kept of its end, see [Output]
}

// An Output is what a program said and how it ended. Of a command with a Tail,
// Stdout is the end of both streams, in the order in which they were written.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int  // 128 + n where signal n ended it, as shells have it
	Killed         bool // a signal ended it
}

// Run runs a command to its end. If a file that decides what the program says has
// changed since its run began, or another process has taken the run over, the program is
// not started. A run that is taken over later kills it. A program that ends with any exit code has
// run: that is no error. An error is [ErrNotStarted], [ErrTimeout],
// [ErrTooMuchOutput] or the context's cause, wrapped, and comes with what had
// been printed until then. Whatever the program left behind in its process
// group is killed (on systems without process groups: the program alone); a
// process that left the group outlives Run, but cannot hold it up for more
// than half a second.
func Run(ctx context.Context, c Command) (Output, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return Output{}, fmt.Errorf("program %w: there is no command", ErrNotStarted)
	}
	if err := pins.From(ctx).Check(c.Argv, c.Dir); err != nil {
		return Output{}, fmt.Errorf("program %s %w: %w", c.Argv[0], ErrNotStarted, err)
	}
	c = c.withDefaults()
	ctx, unwatch := fences.Watch(ctx)
	defer unwatch()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("%w after %s", ErrTimeout, c.Timeout))
		defer cancel()
	}
	overflow := fmt.Errorf("%w: more than %d bytes", ErrTooMuchOutput, c.MaxOutput)
	stdout := &limited{max: c.MaxOutput, full: func() { stop(overflow) }}
	stderr := &limited{max: c.MaxOutput, full: func() { stop(overflow) }}
	cmd, err := c.prepare(ctx)
	if err != nil {
		return Output{}, startError(ctx, c.Argv[0], err)
	}
	if len(c.Stdin) > 0 {
		input, err := inputFile(c.Stdin)
		if err != nil {
			return Output{}, startError(ctx, c.Argv[0], err)
		}
		defer input.Close()
		cmd.Stdin = input
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if c.Tail > 0 {
		stdout.tail = c.Tail
		cmd.Stderr = cmd.Stdout // one pipe for both, which keeps their order
	}
	cmd.Env = traced(ctx, cmd.Env)
	if err := fences.Check(ctx); err != nil {
		return Output{}, startError(ctx, c.Argv[0], err)
	}
	if err := cmd.Start(); err != nil {
		return Output{}, startError(ctx, c.Argv[0], err)
	}
	err = cmd.Wait()
	sweep(cmd)
	out := Output{Stdout: stdout.bytes(), Stderr: stderr.bytes(), ExitCode: exitCode(cmd.ProcessState), Killed: killed(cmd.ProcessState)}
	return out, c.fault(ctx, err)
}

func (c Command) withDefaults() Command {
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	return c
}

func (c Command) prepare(ctx context.Context) (*exec.Cmd, error) {
	env, err := Environment(c.Env)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, env
	cmd.WaitDelay = grace
	OwnGroup(cmd)
	cmd.Cancel = func() error { return KillGroup(cmd) }
	return cmd, nil
}

func startError(ctx context.Context, name string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("program %s %w: %w", name, ErrNotStarted, cause)
	}
	return fmt.Errorf("program %s %w: %w", name, ErrNotStarted, err)
}

// fault tells an end of the program's own from one that Run brought about.
// A program that had ended well just before its time was up has ended well.
func (c Command) fault(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var exit *exec.ExitError
	switch {
	case errors.Is(cause, ErrTooMuchOutput):
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case cause == nil && errors.As(err, &exit):
		return nil
	case cause == nil:
		cause = err
	}
	return fmt.Errorf("program %s: %w", c.Argv[0], cause)
}
