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

	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/schema"
)

// maxText is the maximum size of a file, and of the output of a declared tool,
// in bytes.
const maxText = 10 << 20

// An Exec is a program that a cascade declares as a tool. It runs without a
// shell.
type Exec struct {
	Argv    []string      // the program and its arguments
	Dir     string        // the working directory; "" for that of the process
	Timeout time.Duration // the limit for a call; 0 for process.DefaultTimeout
	Env     []string      // environment variables in addition to the default ones, see [process.Environment]
}

// Tool returns the tool. It validates the arguments against params, a JSON Schema,
// before it starts the program. The program reads {"name", "arguments", "key"} as JSON
// from its standard input. A repeated call has the same key. The output is the result,
// see [Value]. Maximum: 10 MiB of UTF-8. With another exit code than 0 the call fails
// with the last lines of standard error. If the program cannot be started, the error is
// [ErrUnavailable].
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
		if err := s.Validate(ctx.Err, c.Arguments); err != nil {
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
		return nil, Unavailable(err)
	case err != nil:
		return nil, withTail(err, []byte(process.Conceal(e.Env, string(out.Stderr))))
	case !utf8.Valid(out.Stdout):
		return nil, errors.New("the output of the program is not UTF-8")
	}
	return Value(string(out.Stdout)), nil
}

// Value decodes the output of a program or server. A JSON object or array becomes a
// plain value. Other output is a text without the line ends at its end.
func Value(text string) any {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if v, err := schema.Parse([]byte(trimmed)); err == nil {
			return v
		}
	}
	return strings.TrimRight(text, "\r\n")
}

// The maximum of standard error in a failed result.
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
