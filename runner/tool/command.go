package tool

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/process"
)

// CommandOptions say what run_command may do.
type CommandOptions struct {
	Allowed   bool          // else every call is refused
	Dir       string        // working directory; empty: the caller's
	Env       []string      // the whole environment as "KEY=value"; nil: the caller's PATH, HOME and the like, no keys or secrets
	Timeout   time.Duration // of a call; 0: process.DefaultTimeout
	MaxOutput int64         // bytes, of each of its two streams; 0: process.DefaultMaxOutput
}

// RunCommand makes run_command, which runs a program that the model names and
// gives {exit_code, stdout, stderr}. There is no shell, and nothing confines
// the program but the user it runs as: allow it where that is meant. A program
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
	env := o.Env
	if env == nil {
		env = plainEnvironment()
	}
	out, err := process.Run(ctx, process.Command{
		Argv: a.Argv, Dir: o.Dir, Env: env, Stdin: strings.NewReader(a.Stdin), Timeout: o.Timeout, MaxOutput: o.MaxOutput,
	})
	if err != nil {
		return nil, withTail(err, out.Stderr)
	}
	return commandResult{out.ExitCode, readable(out.Stdout), readable(out.Stderr)}, nil
}

// readable makes text of what a program printed.
func readable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// plainNames are the variables that a program needs to find its way; the
// caller's API keys are not for programs that a model chooses.
var plainNames = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "TERM": true, "TZ": true, "LANG": true, "LANGUAGE": true,
	"TMPDIR": true, "TEMP": true, "TMP": true, "SYSTEMROOT": true, "PATHEXT": true, "COMSPEC": true, "USERPROFILE": true, "APPDATA": true, "LOCALAPPDATA": true,
}

func plainEnvironment() []string {
	env := []string{}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name = strings.ToUpper(name); plainNames[name] || strings.HasPrefix(name, "LC_") {
			env = append(env, pair)
		}
	}
	return env
}
