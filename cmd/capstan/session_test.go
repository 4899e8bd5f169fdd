package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// A session runs command lines in one process, one after the other. Most of the
// time of a small command is its start. Command lines share only the files on
// disk. If a command line kills the process, the next starts another.
type session struct {
	process *exec.Cmd // nil before the first line
	orders  io.WriteCloser
	ends    *json.Decoder
}

// An order is a command line with its environment and its input.
type order struct {
	Dir, Stdin string
	Env, Args  []string
}

// An end is the result of a command line.
type end struct {
	Stdout, Stderr string
	Status         int
}

// serveSession is the main function of a session's process.
func serveSession() {
	collectSeldom(os.Getenv)
	orders, ends := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		err := orders.Decode(&o)
		if errors.Is(err, io.EOF) {
			return
		}
		var e end
		if err == nil {
			e, err = o.obey()
		}
		if err == nil {
			err = ends.Encode(e)
		}
		if err != nil {
			panic(err)
		}
	}
}

// obey runs a command line as main does.
func (o order) obey() (end, error) {
	err := os.Chdir(o.Dir)
	os.Clearenv()
	for _, v := range o.Env {
		name, value, _ := strings.Cut(v, "=")
		err = errors.Join(err, os.Setenv(name, value))
	}
	var out, stderr shared
	c := &Command{Stdin: strings.NewReader(o.Stdin), Stdout: &out, Stderr: &stderr, Getenv: os.Getenv, Environ: os.Environ()}
	status := c.Run(context.Background(), o.Args)
	return end{out.String(), stderr.String(), status}, err
}

// A shared buffer accepts concurrent writes, like a file.
type shared struct {
	mu sync.Mutex
	bytes.Buffer
}

func (w *shared) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Buffer.Write(p)
}

// run returns the result of a command line, or an error if the process failed.
func (s *session) run(o order) (e end, err error) {
	if err = s.begin(); err == nil {
		err = json.NewEncoder(s.orders).Encode(o)
	}
	if err == nil {
		err = s.ends.Decode(&e)
	}
	if err != nil {
		s.close()
	}
	return e, err
}

// begin starts the process unless it runs.
func (s *session) begin() error {
	if s.process != nil {
		return nil
	}
	process := exec.Command("session")
	process.Stderr = os.Stderr
	orders, err := process.StdinPipe()
	if err != nil {
		return err
	}
	ends, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	s.process, s.orders, s.ends = process, orders, json.NewDecoder(ends)
	return err
}

func (s *session) close() {
	if s.process != nil {
		s.orders.Close()
		s.process.Wait()
		s.process = nil
	}
}

// Sessions is a pool of idle sessions.
type sessions struct {
	mu   sync.Mutex
	idle []*session
}

func (l *sessions) take() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.idle) == 0 {
		return &session{}
	}
	s := l.idle[len(l.idle)-1]
	l.idle = l.idle[:len(l.idle)-1]
	return s
}

func (l *sessions) give(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, s)
}

func (l *sessions) close() {
	for _, s := range l.idle {
		s.close()
	}
}

// A scriptSession runs the lines "capstan …" of one script, and afterwards
// those of another. A program that the script starts by exec or by a shell is a
// process of its own.
type scriptSession struct {
	*session
	names []string // of environment variables: a script's environment can only be read by name
	set   []string // the variables at the start of the script, passed even if they are empty
	stdin string   // for the next line
}

var setting = regexp.MustCompile(`(?m)^env .*$`)

type sessionKey struct{}

// newSession returns a session for the script in a file.
func newSession(env *testscript.Env, file string, idle *sessions) error {
	script, err := os.ReadFile(file)
	s := &scriptSession{session: idle.take(), set: names(env.Vars)}
	s.names = s.set
	for _, line := range setting.FindAllString(string(script), -1) {
		s.names = append(s.names, names(strings.Fields(line)[1:])...)
	}
	env.Values[sessionKey{}] = s
	env.Defer(func() { idle.give(s.session) })
	return err
}

func names(vars []string) (list []string) {
	for _, v := range vars {
		name, _, _ := strings.Cut(v, "=")
		list = append(list, name)
	}
	return list
}

func sessionOf(ts *testscript.TestScript) *scriptSession {
	return ts.Value(sessionKey{}).(*scriptSession)
}

// environ returns the script's environment.
func (s *scriptSession) environ(ts *testscript.TestScript) (list []string) {
	for _, name := range s.names {
		if value := ts.Getenv(name); value != "" || slices.Contains(s.set, name) {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// line runs a command line and returns its exit status, or -1 if its process
// was killed.
func (s *scriptSession) line(ts *testscript.TestScript, args []string) int {
	dir := ts.MkAbs(".")
	e, err := s.run(order{Dir: dir, Stdin: s.stdin, Env: append(s.environ(ts), "PWD="+dir), Args: args})
	s.stdin = ""
	if err != nil {
		ts.Logf("[%v]", err)
		return -1
	}
	io.WriteString(ts.Stdout(), e.Stdout)
	io.WriteString(ts.Stderr(), e.Stderr)
	return e.Status
}

// inSession runs a command line that must succeed or, if negated, fail.
func inSession(ts *testscript.TestScript, neg bool, args []string) {
	if status := sessionOf(ts).line(ts, args); (status != exitOK) != neg {
		ts.Fatalf("it ended with status %d", status)
	}
}

// readsNext sets the standard input of the next line "capstan …" to a file.
// Other programs use the command stdin.
func readsNext(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: given FILE")
	}
	sessionOf(ts).stdin = ts.ReadFile(args[0])
}

// wantStatus runs a command that must end with the given exit status.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	got := 0
	if args[1] == "capstan" {
		got = sessionOf(ts).line(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		exited, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exited.ExitCode()
	}
	if want, _ := strconv.Atoi(args[0]); got != want {
		ts.Fatalf("%v ended with status %d, want %d", args[1:], got, want)
	}
}
