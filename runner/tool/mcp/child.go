package mcp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/process"
)

// grace is the time that a server has to end, to write its last output, or to
// answer a ping.
const grace = 2 * time.Second

// A child is a server process. Its standard input and output are the
// connection.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	stderr *tail
	ended  chan struct{} // closed after the program ended
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
	// The pipe of cmd.StdoutPipe would be closed at the end of the program, before its
	// last output is read.
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

// wait waits for the end of the program and kills its process group. A process outside
// the group can keep the pipe open, so reading has a deadline.
func (c *child) wait() {
	_ = c.cmd.Wait()
	_ = process.KillGroup(c.cmd)
	_ = c.stdout.SetReadDeadline(time.Now().Add(grace))
	close(c.ended)
}

// close closes the input of the program, and kills the program if it does not
// end.
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

// fault describes the unexpected end of the program, with the end of its
// standard error.
func (c *child) fault() string {
	select {
	case <-c.ended:
	case <-time.After(grace):
		return ""
	}
	words := " (" + c.cmd.ProcessState.String()
	if output := c.stderr.String(); output != "" {
		words += ": " + output
	}
	return words + ")"
}

// maxTail is the maximum length of stored standard error in bytes.
const maxTail = 2000

// A tail stores the end of the text that is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxTail):]...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-maxTail):]...)
	return len(p), nil
}

// String returns the stored text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.text), ""))
}
