package mcp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/process"
)

// grace is how long a server is waited for that ought to end, to finish what
// it says, or to show that it is alive.
const grace = 2 * time.Second

// A child is a server that was started here. Its stdin and stdout are the
// connection.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	stderr *tail
	ended  chan struct{} // closed when the program has ended
	stop   sync.Once
}

func start(s Server) (*child, error) {
	env, err := process.Environment(s.Env)
	if err != nil {
		return nil, fmt.Errorf("not started: %w", err)
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = s.Dir, env
	c := &child{cmd: cmd, stderr: &tail{}, ended: make(chan struct{})}
	cmd.Stderr = c.stderr
	cmd.WaitDelay = grace
	process.OwnGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own: cmd.StdoutPipe would be closed when the program ends,
	// with its last words unread.
	read, write, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, err
	}
	c.stdin, c.stdout, cmd.Stdout = stdin, read, write
	err = cmd.Start()
	write.Close()
	if err != nil {
		stdin.Close()
		read.Close()
		return nil, fmt.Errorf("not started: %w", err)
	}
	go c.wait()
	return c, nil
}

// wait waits for the end. What the program left behind goes with it; what got
// out of its group may hold the pipe, but not for long.
func (c *child) wait() {
	_ = c.cmd.Wait()
	_ = process.KillGroup(c.cmd)
	_ = c.stdout.SetReadDeadline(time.Now().Add(grace))
	close(c.ended)
}

// close ends the program: it is asked by the end of its input and killed if it
// does not listen.
func (c *child) close() {
	c.stop.Do(func() {
		c.stdin.Close()
		select {
		case <-c.ended:
		case <-time.After(grace):
			_ = process.KillGroup(c.cmd)
			<-c.ended
		}
		c.stdout.Close()
	})
}

// fault says how a program ended that should not have, and its last words.
func (c *child) fault() string {
	select {
	case <-c.ended:
	case <-time.After(grace):
		return ""
	}
	words := " (" + c.cmd.ProcessState.String()
	if said := c.stderr.String(); said != "" {
		words += ": " + said
	}
	return words + ")"
}

// maxTail bounds what is kept of a server's standard error, in bytes.
const maxTail = 2000

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxTail):]...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-maxTail):]...)
	return len(p), nil
}

// String is the text kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), ""))
}
