package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// pseudoterminal is a terminal and the side on which its person sits.
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

// Who asks for no colour gets plain text on a terminal too: not a single escape.
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
		set := map[string]string{"TERM": "xterm-256color", "NO_COLOR": wish, "CAPSTAN_DB": filepath.Join(t.TempDir(), "runs.db")}
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
