// Package process runs a child program under control: an argument vector
// without a shell, an environment without the caller's keys, limited time and
// output. When Run returns, the whole process group has ended.
//
//	out, err := process.Run(ctx, process.Command{Argv: []string{"go", "test", "./..."}, Timeout: time.Minute})
//
// Begin with [Run].
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/seed61713e19/capstan/internal/fences"
	"github.com/seed61713e19/capstan/internal/pins"
)

// Defaults of a [Command].
const (
	DefaultTimeout   = 60 * time.Second
	DefaultMaxOutput = 1 << 20 // bytes, for each of the two streams
)

// grace is how long Run reads output after the child has ended. A grandchild
// may hold the pipes open forever.
const grace = 500 * time.Millisecond

// Reasons for a run without a result; test with [errors.Is].
var (
	ErrNotStarted    = errors.New("not started")
	ErrTimeout       = errors.New("out of time")
	ErrTooMuchOutput = errors.New("too much output")
)

// A Command is a program to run. Only Argv must be set.
type Command struct {
	Argv      []string      // the program and its arguments; a program without a slash is looked up in PATH
	Dir       string        // working directory; default: the caller's
	Env       []string      // variables beside the plain ones, see [Environment]
	Stdin     []byte        // the whole standard input, passed as a file; default: empty
	Timeout   time.Duration // default: DefaultTimeout; negative: only the context's
	MaxOutput int64         // default: DefaultMaxOutput
	Tail      int           // if positive, only the last Tail bytes of the output are stored, see [Output]
}

// An Output is the output and exit status of a program. For a command with a
// Tail, Stdout is the end of both streams, in the order in which they were
// written.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int  // 128 + n if signal n ended the program, as in shells
	Killed         bool // a signal ended it
}

// Run runs a command to its end. A program that exits with any code is not an error. Errors wrap
// [ErrNotStarted], [ErrTimeout], [ErrTooMuchOutput] or the context's cause, and the output so far
// is returned with them.
//
// Run does not start the program if a file that decides its result has changed since the run
// began. It also fails after a takeover of the run. A later takeover kills the program.
//
// Run kills all processes that the program left in its process group. On systems without process
// groups, it kills only the program. A process that left the group may outlive Run, but it delays
// Run by at most half a second.
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
		cmd.Stderr = cmd.Stdout // one pipe for both, to keep their order
	}
	cmd.Env = traced(ctx, cmd.Env)
	if err := fences.Check(ctx); err != nil {
		return Output{}, startError(ctx, c.Argv[0], err)
	}
	if err := cmd.Start(); err != nil {
		return Output{}, startError(ctx, c.Argv[0], err)
	}
	err = cmd.Wait()
	killLeftovers(cmd)
	out := Output{Stdout: stdout.bytes(), Stderr: stderr.bytes(), ExitCode: exitCode(cmd.ProcessState), Killed: killed(cmd.ProcessState)}
	return out, c.runError(ctx, err)
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

// runError returns the error of a program that Run ended, or nil for a program
// that ended itself. A program that ended just before the timeout has
// succeeded.
func (c Command) runError(ctx context.Context, err error) error {
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
