package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/validators/schema"
)

// maxText bounds, in bytes, a file that is read or written and what a declared
// tool's program prints.
const maxText = 10 << 20

// Exec is a program that a cascade file declares as a tool. There is no shell.
type Exec struct {
	Argv    []string      // the program and its arguments
	Dir     string        // working directory; empty: the caller's
	Timeout time.Duration // 0: process.DefaultTimeout
	Env     []string      // what it sees beside the plain variables, as [process.Environment] has it
}

// Tool makes the tool. Arguments are checked against params, a JSON Schema as
// a plain value, before the program starts. It reads {"name", "arguments",
// "key"} as JSON from its standard input; key is the same when a call is
// started again. What it prints, at most 10 MiB of UTF-8, is the result as
// [Value] reads it. Any exit code but 0 is a failed result with the last lines
// of its standard error; a program that cannot be started is [ErrGone].
func (e Exec) Tool(name, description string, params map[string]any) Tool {
	if params == nil {
		params = map[string]any{"type": "object"}
	}
	compiled := sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(params) })
	return Declared(name, description, params, func(ctx context.Context, c Call) (any, error) {
		if c.Arguments == nil {
			c.Arguments = map[string]any{}
		}
		s, err := compiled()
		if err != nil {
			return nil, fmt.Errorf("parameters: %w", err)
		}
		if err := s.Refusal(ctx.Err, c.Arguments); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return e.run(ctx, c)
	})
}

func (e Exec) run(ctx context.Context, c Call) (any, error) {
	stdin, err := json.Marshal(struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
		Key       string         `json:"key"`
	}{c.Name, c.Arguments, c.Key})
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	command := process.Command{Argv: e.Argv, Dir: e.Dir, Env: e.Env, Stdin: stdin, Timeout: e.Timeout, MaxOutput: maxText}
	out, err := process.Run(ctx, command)
	if err == nil && out.ExitCode != 0 {
		err = fmt.Errorf("exit status %d", out.ExitCode)
	}
	switch {
	case errors.Is(err, process.ErrNotStarted):
		return nil, Gone(err)
	case err != nil:
		return nil, withTail(err, []byte(process.Conceal(e.Env, string(out.Stderr))))
	case !utf8.Valid(out.Stdout):
		return nil, errors.New("what the program printed is not UTF-8")
	}
	return Value(string(out.Stdout)), nil
}

// Value reads what a program or a server says: a JSON object or array is taken
// as a plain value, anything else is text, without the line ends behind it.
func Value(text string) any {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if v, err := schema.Parse([]byte(trimmed)); err == nil {
			return v
		}
	}
	return strings.TrimRight(text, "\r\n")
}

// tailLines and tailBytes bound what a failed result quotes of standard error.
const (
	tailLines = 20
	tailBytes = 2000
)

// withTail adds the last lines of standard error to an error.
func withTail(err error, stderr []byte) error {
	if len(stderr) > tailBytes {
		stderr = stderr[len(stderr)-tailBytes:]
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(stderr), ""))
	lines := strings.Split(text, "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	if text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(lines, "\n"))
}
