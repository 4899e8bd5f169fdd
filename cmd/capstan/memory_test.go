package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestResumeFromMemory resumes a run of a cascade that a Go program built in
// memory. A finished run returns its result again, and an unfinished run
// continues. Both work from Go and from the command line.
func TestResumeFromMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "j.db")
	j, err := journal.Open(file, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	says := func(text string) runner.Option {
		return runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Text: text}, nil
		}))
	}
	r, err := runner.New(says("about owls"), runner.WithJournal(j))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "nowhere/memory.yaml"} {
		for id, text := range map[string]string{
			"ended": "cascade_id: memory\nphases: [{name: draft, instructions: Write.}]",
			"waits": "cascade_id: memory\nphases: [{name: draft, instructions: Write., human_input: {prompt: 'Well?', type: text}}]",
		} {
			id += strings.ReplaceAll(name, "/", "-")
			c, err := r.Parse(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			first, _ := r.Run(t.Context(), c, nil, runner.WithRunID(id))
			if first.Status == engine.Waiting {
				if err := j.Answer(t.Context(), id, "", engine.Answer{Value: "yes"}); err != nil {
					t.Fatal(err)
				}
			} else if again, err := r.Resume(t.Context(), id); err != nil || again.Output != "about owls" {
				t.Errorf("%s: resumed in the library: %+v, %v", id, again, err)
			}
			var out, stderr bytes.Buffer
			command := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }}
			if status := command.Run(t.Context(), []string{"resume", id, "--store", file}); status != exitOK || strings.TrimSpace(out.String()) == "" {
				t.Errorf("%s: status %d: %s%s", id, status, out.String(), stderr.String())
			}
		}
	}
}
