package tool

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61713e19/capstan/internal/process"
)

// runCommandTool returns run_command, which runs a program and returns {exit_code, stdout,
// stderr}. It starts no shell, and the program gets the environment variables of
// [process.Environment]. The program has all rights of the user of the process. If it
// exceeds a limit, it is killed with its child processes, and the call fails.
func runCommandTool(o Options) Tool {
	return New("run_command", "Run a program, without a shell, in the working directory.", o.runCommand).WithEffect(Writes)
}

type runCommand struct {
	Argv  []string `json:"argv" jsonschema:"the program and its arguments"`
	Stdin string   `json:"stdin,omitempty" jsonschema:"standard input of the program"`
}

type commandResult struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

func (o Options) runCommand(ctx context.Context, a runCommand) (any, error) {
	switch {
	case !o.AllowExec:
		return nil, errors.New("running programs is not allowed: whoever starts the run allows it with --allow-exec")
	case len(a.Argv) == 0 || a.Argv[0] == "":
		return nil, errors.New("argv must list a program and its arguments")
	}
	out, err := process.Run(ctx, process.Command{Argv: a.Argv, Dir: o.Root, Stdin: []byte(a.Stdin), Timeout: o.Timeout})
	if err != nil {
		return nil, withTail(err, out.Stderr)
	}
	return commandResult{out.ExitCode, readable(out.Stdout), readable(out.Stderr)}, nil
}

// readable returns the output of a program as valid UTF-8.
func readable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
