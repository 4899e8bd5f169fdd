package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// hostileCascade has control characters in every text that a verb prints.
const hostileCascade = `cascade_id: hostile
description: "about \e]0;owned\a\e[2J\x9b31m\u202eevil\u2066\u200b\r."
inputs_schema: {topic: "a \e[2J topic\u202e"}
phases:
  - name: write
    instructions: "Write \e[2J about {{ input.topic }}"
    wards: {post: [{validator: word_count, with: {min: 1}, name: "count \e[2J"}]}
`

// shownOn runs a command line on a terminal or on a pipe, and returns the
// output. The result stderr is the text of standard error on a pipe.
func shownOn(t *testing.T, terminal bool, set map[string]string, args ...string) (text, stderr string, status int) {
	t.Helper()
	c := &Command{Stdin: strings.NewReader(""), Getenv: func(name string) string { return set[name] }}
	for name, value := range set {
		c.Environ = append(c.Environ, name+"="+value)
	}
	if !terminal {
		var out, aside bytes.Buffer
		c.Stdout, c.Stderr = &out, &aside
		status = c.Run(t.Context(), args)
		return out.String(), aside.String(), status
	}
	person, screen := pseudoterminal(t)
	defer person.Close()
	seen := make(chan []byte)
	go func() {
		text, _ := io.ReadAll(person) // ends with an error when the terminal is closed
		seen <- text
	}()
	c.Stdout, c.Stderr = screen, screen
	status = c.Run(t.Context(), args)
	screen.Close()
	return strings.ReplaceAll(string(<-seen), "\r\n", "\n"), "", status // the terminal writes line ends so
}

// acts returns the first character that would act on a terminal or hide in a text.
func acts(text string) string {
	for _, own := range []string{"\r\x1b[K", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[m"} {
		text = strings.ReplaceAll(text, own, "")
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' {
			return string(r)
		}
	}
	return ""
}

func TestTerminalControlCharacters(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := write("c.yaml", hostileCascade)
	bad := write("b\x1b[2J\u202e\nfile.yaml", strings.Replace(hostileCascade, "instructions", "instruction", 1))
	script := write("c.scripted.yaml", "- reply: \"a \\e[2J text\\u202e\\u009b31m\"\n")
	asks := write("asks.yaml", "cascade_id: asks\nphases:\n  - {name: ask, human_input: {prompt: \"well \\e[2J\\u202e?\", type: text}, instructions: x}\n")
	set := map[string]string{"TERM": "xterm", "CAPSTAN_STORE": filepath.Join(dir, "runs.db")}
	run := []string{"run", good, "--model", "scripted:" + script, "--input", "topic=owls", "--run-id", "r"}
	waits := []string{"run", asks, "--model", "scripted:" + script, "--run-id", "w"}
	for _, c := range []struct {
		args   []string
		status int
		people bool // only people read it, so it is escaped on a pipe too
	}{
		{run, exitOK, false},
		{waits, exitWaiting, true},
		{[]string{"inspect", good}, exitOK, true},
		{[]string{"inspect", bad}, exitUsage, true},
		{[]string{"inspect", good, "--model", "scripted:" + script}, exitOK, true},
		{[]string{"lint", bad}, exitUsage, true},
		{[]string{"lint", bad, "--format", "github"}, exitUsage, false},
		{[]string{"graph", good}, exitOK, false},
		{[]string{"show", "r", "--attempts"}, exitOK, true},
		{[]string{"show", "w"}, exitOK, true},
		{[]string{"events", "r"}, exitOK, false},
		{[]string{"runs", "--words", "text"}, exitOK, true},
		{[]string{"gate", "word_count", bad, "--with", "min=1000"}, exitNo, false},
		{[]string{"doctor", bad}, exitUsage, true},
		{[]string{"no\x1b[2Jverb"}, exitUsage, true},
		{[]string{"show", "no\x1b[2J\u202erun"}, exitUsage, true},
	} {
		for _, terminal := range []bool{true, false} {
			text, stderr, status := shownOn(t, terminal, set, c.args...)
			name := strings.Join(c.args, " ")
			if status != c.status {
				t.Errorf("%q: status %d, want %d: %q %q", name, status, c.status, text, stderr)
			}
			if found := acts(text); found != "" && (terminal || c.people) {
				t.Errorf("%q, on a terminal %v: %q is in %q", name, terminal, found, text)
			}
			if found := acts(stderr); found != "" {
				t.Errorf("%q: %q is in %q", name, found, stderr)
			}
			if c.args[0] == "run" {
				set["CAPSTAN_STORE"] += "2" // the same name again
			}
		}
		if c.args[0] == "run" {
			set["CAPSTAN_STORE"] = filepath.Join(dir, "runs.db")
		}
	}
	text, _, _ := shownOn(t, false, set, append(run[:len(run)-1:len(run)-1], "raw")...)
	if text != "a \x1b[2J text\u202e\u009b31m\n" {
		t.Errorf("on a pipe the output is %q", text)
	}
}
