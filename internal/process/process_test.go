//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func sh(script string) Command {
	return Command{Argv: []string{"/bin/sh", "-c", script}, Timeout: 20 * time.Second}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name           string
		command        Command
		stdout, stderr string
		code           int
	}{
		{"both streams", sh("echo out; echo err >&2"), "out\n", "err\n", 0},
		{"exit code", sh("exit 7"), "", "", 7},
		{"a signal of its own", sh("kill -9 $$"), "", "", 137},
		{"no shell", Command{Argv: []string{"echo", "$HOME;", "*"}}, "$HOME; *\n", "", 0},
		{"stdin", Command{Argv: []string{"cat"}, Stdin: []byte("hello")}, "hello", "", 0},
		{"no stdin", Command{Argv: []string{"cat"}}, "", "", 0},
		{"directory", Command{Argv: []string{"pwd"}, Dir: dir}, dir + "\n", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := Run(t.Context(), c.command)
			if err != nil {
				t.Fatal(err)
			}
			if string(out.Stdout) != c.stdout || string(out.Stderr) != c.stderr || out.ExitCode != c.code {
				t.Errorf("got %q, %q, %d", out.Stdout, out.Stderr, out.ExitCode)
			}
		})
	}
}

func TestRunNotStarted(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range map[string]func() error{
		"nothing":      func() error { _, err := Run(t.Context(), Command{}); return err },
		"no program":   func() error { _, err := Run(t.Context(), Command{Argv: []string{"no-such-program"}}); return err },
		"no directory": func() error { _, err := Run(t.Context(), Command{Argv: []string{"true"}, Dir: "/no/such"}); return err },
		"cancelled":    func() error { _, err := Run(cancelled, Command{Argv: []string{"true"}}); return err },
	} {
		if err := run(); !errors.Is(err, ErrNotStarted) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Run(cancelled, Command{Argv: []string{"true"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// A child that closes or never reads its input must not delay Run.
func TestRunStdinClosedEarly(t *testing.T) {
	for _, script := range []string{"exec <&-; echo ok", "echo ok", "head -c 1 >/dev/null; echo ok"} {
		c := sh(script)
		c.Stdin = make([]byte, 10<<20)
		out, err := Run(t.Context(), c)
		if err != nil || string(out.Stdout) != "ok\n" {
			t.Errorf("%s: got %q, %v", script, out.Stdout, err)
		}
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"sleeps":          "echo begun; sleep 100",
		"ignores SIGTERM": "trap '' TERM INT HUP; echo begun; while :; do sleep 100; done",
		"busy":            "echo begun; while :; do :; done",
		"forks":           "echo begun; sleep 10000 & sleep 10000 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := runUntil(t, sh(script), "begun\n")
			if !errors.Is(err, ErrTimeout) || string(out.Stdout) != "begun\n" {
				t.Errorf("got %q, %v", out.Stdout, err)
			}
		})
	}
}

// runUntil runs a command that ends by its timeout, with more time until it
// prints the text.
func runUntil(t *testing.T, c Command, want string) (Output, error) {
	t.Helper()
	for c.Timeout = time.Second / 4; ; c.Timeout *= 4 {
		out, err := Run(t.Context(), c)
		if string(out.Stdout) == want || c.Timeout > time.Minute {
			return out, err
		}
	}
}

func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		os.ReadFile(ready) // returns once the child has opened and closed it
		cancel()
	}()
	_, err := Run(ctx, sh("echo > "+ready+"; sleep 100"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRunTooMuchOutput(t *testing.T) {
	for name, script := range map[string]string{
		"stdout":           "yes",
		"stderr":           "yes >&2",
		"and it ends well": "head -c 1073741824 /dev/zero; exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			c := sh(script)
			c.MaxOutput = 1000
			out, err := Run(t.Context(), c)
			if !errors.Is(err, ErrTooMuchOutput) {
				t.Fatalf("got %v", err)
			}
			if n := len(out.Stdout) + len(out.Stderr); n != 1000 {
				t.Errorf("kept %d bytes", n)
			}
		})
	}
	c := sh("printf 1234567890")
	c.MaxOutput = 10
	if _, err := Run(t.Context(), c); err != nil {
		t.Errorf("exactly as much as allowed: %v", err)
	}
}

// Everything that the child started ends with it, whatever the reason.
func TestRunKillsTheGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Command{
		"ends":            {Argv: []string{"/bin/sh", "-c", "sleep 100 & echo $!"}},
		"out of time":     {Argv: []string{"/bin/sh", "-c", "sleep 100 & echo $!; wait"}, Timeout: time.Second / 4},
		"too much output": {Argv: []string{"/bin/sh", "-c", "sleep 100 & echo $!; yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := Run(t.Context(), c)
			if c.Timeout > 0 && len(out.Stdout) == 0 { // it had no time to print its number
				c.Timeout = time.Minute
				out, _ = Run(t.Context(), c)
			}
			line, _, _ := strings.Cut(string(out.Stdout), "\n")
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			waitGone(t, pid)
		})
	}
}

// waitGone waits until a killed orphan has been reaped, or is a zombie.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		state, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if s := strings.TrimSpace(string(state)); s == "" || strings.HasPrefix(s, "Z") {
			return
		}
	}
	t.Errorf("process %d lives on", pid)
}

// Run must not wait for a grandchild that left the group and holds the pipe.
func TestRunPipeHeldByGrandchild(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid")
	}
	for _, c := range []struct {
		script string
		ends   bool
		code   int
		err    error
	}{
		{"setsid sleep 120 & echo done", true, 0, nil},
		{"setsid sleep 120 & echo done; exit 3", true, 3, nil},
		{"setsid sleep 120 & echo done; sleep 120", false, 137, ErrTimeout},
	} {
		command, start := sh(c.script), time.Now()
		run := func() (Output, error) { return Run(t.Context(), command) }
		if command.Timeout = time.Minute; !c.ends {
			run = func() (Output, error) { return runUntil(t, command, "done\n") }
		}
		out, err := run()
		if !errors.Is(err, c.err) || string(out.Stdout) != "done\n" || out.ExitCode != c.code {
			t.Errorf("%s: got %q, %d, %v", c.script, out.Stdout, out.ExitCode, err)
		}
		if took := time.Since(start); took > 100*time.Second {
			t.Errorf("%s: took %s", c.script, took)
		}
	}
}
