package validators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/process"
)

// Exec is a validator that is a program. The program reads a subject as JSON
// from standard input. It writes a verdict to standard output, or its exit
// status is the verdict (see Status).
type Exec struct {
	Argv    []string      // the program and its arguments, started without a shell
	Dir     string        // working directory; default: the caller's
	Timeout time.Duration // default: one minute
	Env     []string      // environment variables that the program sees beside the plain ones, see [process.Environment]
	Status  bool          // the exit status is the verdict, and the output is its reason
}

// request is the JSON that the program reads.
type request struct {
	Subject
	With map[string]any `json:"with"`
	Key  string         `json:"key"` // present even if empty
}

// Check returns the check that runs the program with parameters. The program reads
//
//	{"content", "output", "input", "state", "outputs", "turn", "attempt", "with", "key"}
//
// and answers in the form that [ParseVerdict] reads. A verdict counts with exit status 0. An
// invalid verdict also counts with status 1, which is the status of a gate that rejects.
//
// Check returns an error, with the last lines of standard error, if the program
//   - exits with another status, or with status 1 and a valid verdict,
//   - prints nothing, more than 1 MiB, or something that is no verdict,
//   - does not end before the timeout, or cannot be started.
//
// With Status, exit status 0 passes and all other statuses fail. The reason is the end of both
// output streams, at most 4096 bytes. There is no verdict if the program is killed, exceeds the
// timeout or cannot be started. The statuses 126 and 127 are not verdicts either: shells use them
// for a command that they cannot start.
func (e Exec) Check(with map[string]any) Check {
	return func(ctx context.Context, s Subject) (Verdict, error) {
		v, err := e.run(ctx, s, with)
		if err != nil {
			return Verdict{}, fmt.Errorf("validator program: %w", err)
		}
		return v, nil
	}
}

func (e Exec) run(ctx context.Context, s Subject, with map[string]any) (Verdict, error) {
	stdin, err := json.Marshal(newRequest(s, with))
	if err != nil {
		return Verdict{}, fmt.Errorf("subject: %w", err)
	}
	command := process.Command{Argv: e.Argv, Dir: e.Dir, Env: e.Env, Timeout: e.Timeout, Stdin: stdin}
	if e.Status {
		return e.runByStatus(ctx, command)
	}
	out, err := process.Run(ctx, command)
	if err == nil {
		var v Verdict
		if v, err = parseOutput(out, process.Conceal(e.Env, string(out.Stdout))); err == nil {
			return v, nil
		}
	}
	if stderr := lastLines([]byte(process.Conceal(e.Env, string(out.Stderr)))); stderr != "" {
		err = fmt.Errorf("%w; it said: %s", err, stderr)
	}
	return Verdict{}, err
}

// maxReason is the maximum length of a reason that comes from output, in bytes.
// More output is stored, so that a secret is found whole before the text is
// cut.
const maxReason = 4 << 10

func (e Exec) runByStatus(ctx context.Context, command process.Command) (Verdict, error) {
	command.Tail = 16 * maxReason
	out, err := process.Run(ctx, command)
	printed := tail(process.Conceal(e.Env, string(out.Stdout)), maxReason)
	if err == nil && out.Killed {
		err = fmt.Errorf("killed by signal %d", out.ExitCode-128)
	}
	if err == nil && (out.ExitCode == 126 || out.ExitCode == 127) { // POSIX, "Exit Status for Commands"
		err = fmt.Errorf("exit status %d: a command is missing or cannot be started", out.ExitCode)
	}
	switch {
	case err != nil:
		if printed != "" {
			err = fmt.Errorf("%w; it said: %s", err, lastLines([]byte(printed)))
		}
		return Verdict{}, err
	case out.ExitCode == 0:
		return Pass("exit status 0"), nil
	case printed == "":
		return Fail("exit status %d without output", out.ExitCode), nil
	}
	v := Fail("%s", printed)
	v.Details = map[string]any{"exit_status": out.ExitCode}
	return v, nil
}

// newRequest returns the request for a subject. Its maps are never null,
// because programs index them.
func newRequest(s Subject, with map[string]any) request {
	for _, m := range []*map[string]any{&s.Input, &s.State, &s.Outputs, &with} {
		if *m == nil {
			*m = map[string]any{}
		}
	}
	return request{Subject: s, With: with, Key: s.Key}
}

// byStatusHint names the key for programs that are not validators, such as
// tests.
const byStatusHint = " (for a program whose exit status is the verdict, such as a test command, write verdict: exit_status)"

// parseOutput reads the verdict that a program printed. redacted is the output
// without secrets, for error messages.
func parseOutput(out process.Output, redacted string) (Verdict, error) {
	if out.ExitCode > 1 {
		return Verdict{}, fmt.Errorf("exit status %d%s", out.ExitCode, byStatusHint)
	}
	if len(bytes.TrimSpace(out.Stdout)) == 0 {
		return Verdict{}, fmt.Errorf("exit status %d and no output", out.ExitCode)
	}
	v, err := ParseVerdict(out.Stdout)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("exit status %d: %w%s", out.ExitCode, Unreadable(err, redacted), byStatusHint)
	case v.Valid && out.ExitCode == 1:
		return Verdict{}, errors.New("exit status 1 with a valid verdict")
	}
	return v, nil
}

// lastLines returns the end of an error output, at most five lines and 500
// bytes.
func lastLines(text []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	return tail(strings.Join(lines[max(0, len(lines)-5):], "\n"), 500)
}

// tail returns the end of a text. Its maximum length is most, in bytes. It never splits a
// character, and a cut text begins with "…".
func tail(text string, most int) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= most {
		return text
	}
	return "…" + clips.Tail(text, most-len("…"))
}
