package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/tool"
)

// folder makes a directory with the files and changes into it, because cascade
// files are named relative to it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// writing is a cascade with one validator that writes the file of its input.
const writing = `cascade_id: writing
%PROTECT
validators:
  gate: %GATE
phases:
  - {name: write, tool: write_file, inputs: {path: "{{ input.path }}", content: "exit 0"}}
`

func TestPinnedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it makes symbolic links")
	}
	tests := []struct {
		name, gate, path string
		protect          string
		refusal          string // "" if the file may be written
	}{
		{name: "script", gate: `{exec: [sh, check.sh]}`, path: "check.sh", refusal: "validator gate names it in its exec"},
		{name: "script by another name", gate: `{exec: [sh, ./check.sh]}`, path: "real/../check.sh", refusal: "subject: [./check.sh]"},
		{name: "program", gate: `{exec: [./check.sh]}`, path: "check.sh", refusal: "validator gate names it"},
		{name: "link followed", gate: `{exec: [sh, linked/inner.sh]}`, path: "real/inner.sh", refusal: "validator gate names it"},
		{name: "link in the way of the writer", gate: `{exec: [sh, real/inner.sh]}`, path: "linked/inner.sh", refusal: "validator gate names it"},
		{name: "flag", gate: `{exec: [sh, --rules=rules.txt]}`, path: "rules.txt", refusal: "validator gate names it"},
		{name: "shell", gate: `{exec: [sh, -c, "cat rules.txt|sh check.sh"]}`, path: "check.sh", refusal: "validator gate names it"},
		{name: "missing", gate: `{exec: [sh, missing.sh]}`, path: "missing.sh", refusal: "validator gate names it"},
		{name: "below a missing one", gate: `{exec: [sh, missing.sh]}`, path: "missing.sh/__main__.py", refusal: "validator gate names it"},
		{name: "found in PATH", gate: `{exec: [prog]}`, path: "bin/prog", refusal: "validator gate names it"},
		{name: "root", gate: `{exec: [sh, check.sh], cwd: root}`, path: "check.sh", refusal: "validator gate names it"},
		{name: "cascade", gate: `{exec: [sh, check.sh]}`, path: "writing.yaml", refusal: "the cascade is made of it"},
		{name: "nested cascade", gate: `{cascade: part.yaml}`, path: "part.yaml", refusal: "the cascade is made of it"},
		{name: "program of a nested cascade", gate: `{cascade: part.yaml}`, path: "real/part.sh", refusal: "validator inner names it"},
		{name: "evidence", gate: `{exec: [sh, check.sh]}`, path: "evidence/gate.json", refusal: "labels and evidence"},
		{name: "labels", gate: `{exec: [sh, check.sh]}`, path: "labels/kim.jsonl", refusal: "labels and evidence"},
		{name: "protect", gate: `{exec: [sh, check.sh]}`, protect: `protect: ["**/*_test.go"]`, path: "real/a_test.go", refusal: "protect: **/*_test.go names it"},
		{name: "protect by another name", gate: `{exec: [sh, check.sh]}`, protect: `protect: [real/**]`, path: "linked/new.txt", refusal: "protect: real/** names it"},

		{name: "subject", gate: `{exec: [sh, check.sh, main.txt], subject: ["*.txt"]}`, path: "main.txt"},
		{name: "subject of a flag", gate: `{exec: [sh, check.sh, --in=main.txt], subject: [main.txt]}`, path: "main.txt"},
		{name: "opened by the program", gate: `{exec: [sh, check.sh]}`, path: "rules.txt"},
		{name: "a word of the program", gate: `{exec: [go, test, ./...], cwd: root}`, path: "test/new.go"},
		{name: "another folder of that name", gate: `{exec: [sh, check.sh]}`, path: "real/evidence/gate.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.NewReplacer("%GATE", test.gate, "%PROTECT", test.protect).Replace(writing)
			dir := folder(t, map[string]string{
				"writing.yaml": text, "check.sh": "exit 1", "rules.txt": "rules", "real/inner.sh": "exit 1", "real/part.sh": "exit 1", "bin/prog": "#!/bin/sh",
				"part.yaml": "cascade_id: part\nvalidators: {inner: {exec: [sh, real/part.sh]}}\nphases: [{name: a, compose: '{\"valid\": true}'}]",
			})
			if err := os.Symlink("real", filepath.Join(dir, "linked")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			before, _ := os.ReadFile(filepath.Join(dir, test.path))
			r := newRunner(t, runner.WithTools(tool.Builtins(tool.Options{Root: dir})...), runner.WithRoot(dir))
			c, err := r.Load("writing.yaml")
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Run(t.Context(), c, map[string]any{"path": test.path})
			after, _ := os.ReadFile(filepath.Join(dir, test.path))
			switch {
			case test.refusal == "" && (err != nil || string(after) != "exit 0"):
				t.Errorf("it was not written: %v", err)
			case test.refusal != "" && (err == nil || !strings.Contains(err.Error(), test.refusal)):
				t.Errorf("%v, want %q", err, test.refusal)
			case test.refusal != "" && string(after) != string(before):
				t.Errorf("it was written: %q", after)
			}
		})
	}
}

// gated is a cascade that asks a person before a gate that is a program.
const gated = `cascade_id: gated
protect: [tests/*]
validators:
  gate: {exec: [sh, check.sh], verdict: exit_status}
phases:
  - {name: draft, compose: an owl, human_input: {prompt: "Go on?", type: confirmation}}
  - {name: last, compose: "{{ outputs.draft }}", wards: {post: [{validator: gate}]}}
`

func TestResumeChangedProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it runs sh")
	}
	for _, name := range []string{"check.sh", "tests/a.txt"} {
		for _, change := range []string{"changed", "gone"} {
			t.Run(name+" "+change, func(t *testing.T) {
				folder(t, map[string]string{"gated.yaml": gated, "check.sh": "exit 0", "tests/a.txt": "a"})
				j, err := journal.Open("runs.db", journal.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer j.Close()
				r := newRunner(t, runner.WithJournal(j))
				c, err := r.Load("gated.yaml")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Run(t.Context(), c, nil, runner.WithRunID("one")); err == nil {
					t.Fatal("it did not wait")
				}
				was, _ := os.ReadFile(name)
				os.Remove(name)
				if change == "changed" {
					os.WriteFile(name, []byte("exit 0 # another"), 0o755)
				}
				yes := runner.WithAsk(func(context.Context, engine.Question) (engine.Answer, error) { return engine.Answer{Value: true}, nil })
				if _, err = r.Resume(t.Context(), "one", yes); err == nil || !strings.Contains(err.Error(), name+" "+map[string]string{"changed": "changed", "gone": "is gone"}[change]+" since the run began") {
					t.Errorf("resumed: %v", err)
				}
				os.WriteFile(name, was, 0o755)
				if _, err = r.Resume(t.Context(), "one", yes); err != nil {
					t.Errorf("restored: %v", err)
				}
			})
		}
	}
}

// TestWithGatesDigests checks that a run passes the digests of its pinned files
// with its gates, without the tested text.
func TestWithGatesDigests(t *testing.T) {
	folder(t, map[string]string{"check.sh": "exit 0", "main.txt": "one", "c.yaml": `cascade_id: c
validators: {gate: {exec: [sh, check.sh, main.txt], verdict: exit_status, subject: [main.txt]}}
phases: [{name: a, compose: a, wards: {post: [{validator: gate}]}}]`})
	r := newRunner(t)
	c, err := r.Load("c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	digest := func() (digest string) {
		tell := runner.WithGates(func(gates []cascades.Gate) { digest = gates[0].Digest })
		if _, err := r.Run(t.Context(), c, nil, tell); err != nil && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		return digest
	}
	first := digest()
	os.WriteFile("main.txt", []byte("two"), 0o644)
	if second := digest(); second != first || first == "" {
		t.Errorf("with another text under test the gate is %s, and was %s", second, first)
	}
	os.WriteFile("check.sh", []byte("exit 0 # another"), 0o644)
	if third := digest(); third == first {
		t.Error("another program is the same gate")
	}
}
