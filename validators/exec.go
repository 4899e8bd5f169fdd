package validators

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/process"
)

// Exec is a validator that is a program: it reads a subject as JSON from its
// standard input and writes a verdict to its standard output, or gives it by its
// exit status.
type Exec struct {
	Argv    []string      // the program and its arguments; no shell is asked
	Dir     string        // working directory; empty: the caller's
	Timeout time.Duration // 0: a minute
	Env     []string      // what it sees beside the plain variables, as [process.Environment] has it
	Status  bool          // its exit status is the verdict, not what it prints
}

// question is what the program reads.
type question struct {
	Subject
	With map[string]any `json:"with"`
	Key  string         `json:"key"` // also where it is empty
}

// Check is the check that the program makes with parameters. The program reads
//
//	{"content", "output", "input", "state", "outputs", "turn", "attempt", "with", "key"}
//
// and answers as [ParseVerdict] reads it. A verdict counts with exit status 0,
// and a no also with 1, the status of a gate that says no. Anything else is an
// error, with the last lines of the program's standard error: another status,
// status 1 with a yes, no output, more than 1 MiB of it, nonsense, no end
// before the time-out, a program that cannot be started.
//
// By its status, 0 is a yes and any other a no, whose reason is the end of what
// it printed, 4096 bytes of both streams at most. A program that is killed, that
// does not end in time or cannot be started has given no verdict.
func (e Exec) Check(with map[string]any) Check {
	return func(ctx context.Context, s Subject) (Verdict, error) {
		v, err := e.ask(ctx, s, with)
		if err != nil {
			return Verdict{}, fmt.Errorf("validator program: %w", err)
		}
		return v, nil
	}
}

func (e Exec) ask(ctx context.Context, s Subject, with map[string]any) (Verdict, error) {
	stdin, err := json.Marshal(questionOf(s, with))
	if err != nil {
		return Verdict{}, fmt.Errorf("subject: %w", err)
	}
	command := process.Command{Argv: e.Argv, Dir: e.Dir, Env: e.Env, Timeout: e.Timeout, Stdin: stdin}
	if e.Status {
		return e.byStatus(ctx, command)
	}
	out, err := process.Run(ctx, command)
	if err == nil {
		var v Verdict
		if v, err = verdictOf(out, process.Conceal(e.Env, string(out.Stdout))); err == nil {
			return v, nil
		}
	}
	if said := lastLines([]byte(process.Conceal(e.Env, string(out.Stderr)))); said != "" {
		err = fmt.Errorf("%w; it said: %s", err, said)
	}
	return Verdict{}, err
}

// maxPrinted is how much of what a program printed is a reason, in bytes. More is
// kept than told, so that a secret is found whole before the text is cut.
const maxPrinted = 4 << 10

func (e Exec) byStatus(ctx context.Context, command process.Command) (Verdict, error) {
	command.Tail = 16 * maxPrinted
	out, err := process.Run(ctx, command)
	printed := ending(process.Conceal(e.Env, string(out.Stdout)), maxPrinted)
	if err == nil && out.Killed {
		err = fmt.Errorf("killed by signal %d", out.ExitCode-128)
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

// questionOf never has null for a map: programs index them.
func questionOf(s Subject, with map[string]any) question {
	for _, m := range []*map[string]any{&s.Input, &s.State, &s.Outputs, &with} {
		if *m == nil {
			*m = map[string]any{}
		}
	}
	return question{Subject: s, With: with, Key: s.Key}
}

// byStatusHint names the key for programs that are no validators, such as tests.
const byStatusHint = " (for a program whose exit status is the verdict, such as a test command, write verdict: exit_status)"

// verdictOf reads what a program has printed; told is that as it may be shown.
func verdictOf(out process.Output, told string) (Verdict, error) {
	if out.ExitCode > 1 {
		return Verdict{}, fmt.Errorf("exit status %d%s", out.ExitCode, byStatusHint)
	}
	if len(bytes.TrimSpace(out.Stdout)) == 0 {
		return Verdict{}, fmt.Errorf("exit status %d and no output", out.ExitCode)
	}
	v, err := ParseVerdict(out.Stdout)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("exit status %d: %w%s", out.ExitCode, Unreadable(err, told), byStatusHint)
	case v.Valid && out.ExitCode == 1:
		return Verdict{}, errors.New("exit status 1 with a valid verdict")
	}
	return v, nil
}

// lastLines is the end of what a program complained of: five lines and 500
// bytes at most.
func lastLines(text []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	return ending(strings.Join(lines[max(0, len(lines)-5):], "\n"), 500)
}

// ending is the end of a text, in whole characters, of at most so many bytes with
// the … that stands for the rest.
func ending(text string, most int) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= most {
		return text
	}
	cut := len(text) - most + len("…")
	for !utf8.RuneStart(text[cut]) {
		cut++
	}
	return "…" + text[cut:]
}
