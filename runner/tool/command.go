package tool

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/process"
)

// CommandOptions say what run_command may do.
type CommandOptions struct {
	Allowed   bool          // else every call is refused
	Dir       string        // working directory; empty: the caller's
	Env       []string      // what a program sees beside the plain variables, as [process.Environment] has it
	Timeout   time.Duration // of a call; 0: process.DefaultTimeout
	MaxOutput int64         // bytes, of each of its two streams; 0: process.DefaultMaxOutput
}

// RunCommand makes run_command, which runs a program that the model names and
// gives {exit_code, stdout, stderr}. There is no shell, and the program sees no
// variable that it is not given, but nothing else confines it than the user it
// runs as: allow it where that is meant. A program
// that takes too long or prints too much is killed with all it started, and
// the result has failed.
func RunCommand(o CommandOptions) Tool {
	return New("run_command", "Run a program, without a shell, in the working directory.", o.run).That(Writes)
}

type runCommand struct {
	Argv  []string `json:"argv" jsonschema:"the program and its arguments"`
	Stdin string   `json:"stdin,omitempty" jsonschema:"what the program reads from its standard input"`
}

type commandResult struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

func (o CommandOptions) run(ctx context.Context, a runCommand) (any, error) {
	switch {
	case !o.Allowed:
		return nil, errors.New("running programs is not allowed: whoever starts the run allows it with --allow-exec")
	case len(a.Argv) == 0 || a.Argv[0] == "":
		return nil, errors.New("argv must list a program and its arguments")
	}
	out, err := process.Run(ctx, process.Command{
		Argv: a.Argv, Dir: o.Dir, Env: o.Env, Stdin: []byte(a.Stdin), Timeout: o.Timeout, MaxOutput: o.MaxOutput,
	})
	if err != nil {
		return nil, withTail(err, out.Stderr)
	}
	return commandResult{out.ExitCode, readable(out.Stdout), readable(out.Stderr)}, nil
}

// readable makes text of what a program printed.
func readable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
