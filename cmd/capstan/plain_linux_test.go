package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/term"
)

// pseudoterminal returns a terminal and the side of its user.
func pseudoterminal(t *testing.T) (person, terminal *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	var unlock, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Skip(errno)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return person, terminal
}

// TestNoColor checks that the output on a terminal has no escape sequence if
// the user asks for no colour.
func TestNoColor(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "")
	for _, wish := range []string{"", "1", "no"} {
		person, terminal := pseudoterminal(t)
		seen := make(chan []byte)
		go func() {
			text, _ := io.ReadAll(person) // ends with an error when the terminal is closed
			seen <- text
		}()
		set := map[string]string{"TERM": "xterm-256color", "NO_COLOR": wish, "CAPSTAN_STORE": filepath.Join(t.TempDir(), "runs.db")}
		c := &Command{Stdin: strings.NewReader(""), Stdout: terminal, Stderr: terminal, Getenv: func(name string) string { return set[name] }}
		status := c.Run(t.Context(), []string{"run", "cascades/examples/ward_retry_flow.yaml", "--model", "scripted", "--input", "product=kettle"})
		terminal.Close()
		text := <-seen
		person.Close()
		if status != exitOK || bytes.Contains(text, []byte("\x1b")) != (wish == "") || !bytes.Contains(text, []byte("kettle of brushed steel")) {
			t.Errorf("NO_COLOR=%s: status %d, %q", wish, status, text)
		}
	}
}

// TestOpinionsByKey checks that one key is an answer on a terminal, and that
// the terminal's mode is restored.
func TestOpinionsByKey(t *testing.T) {
	person, terminal := pseudoterminal(t)
	defer person.Close()
	defer terminal.Close()
	if _, err := term.MakeRaw(int(terminal.Fd())); err != nil { // otherwise early keys would be lost
		t.Skip(err)
	}
	c := &Command{Stdin: terminal, Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	in := bufio.NewReader(terminal)
	for _, press := range []struct {
		keys, want string
	}{{"y", "y"}, {"xs", "s"}, {"Nno greeting\n", "n no greeting"}, {"n\n", "n"}, {"\x04", "q"}, {"q", "q"}, {"\x03", "context canceled"}} {
		person.WriteString(press.keys)
		o, err := c.opinion(t.Context(), in, "is it good")
		got := strings.TrimSpace(o.word + " " + o.reason)
		if err != nil {
			got = err.Error()
		}
		if got != press.want {
			t.Errorf("%q is %q, want %q", press.keys, got, press.want)
		}
	}
}
