package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
)

// TestQuestionsOfTemporal checks that a question of a run on Temporal is listed
// like any other. An answer here fails: it reports first an invalid answer,
// then how to answer on Temporal.
func TestQuestionsOfTemporal(t *testing.T) {
	store := filepath.Join(t.TempDir(), "runs.db")
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := j.External("Temporal")
	question := engine.Question{Phase: "a", Type: cascades.Confirmation, Prompt: "ok?"}
	if err := g.Begin(runner.Start{RunID: "r1", CascadeID: "asks"}); err != nil {
		t.Fatal(err)
	}
	if err := g.SetWaiting("r1", []engine.Asked{{Path: "a/human_input", Question: question}}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	for _, c := range []struct {
		args   string
		status int
		says   []string
	}{
		{"runs", 0, []string{"r1", "waiting"}},
		{"runs --status waiting", 0, []string{"r1"}},
		{"show r1", 0, []string{"ok?", "next: capstan-temporal answer r1 VALUE"}},
		{"answer r1 perhaps", 2, []string{`"perhaps" does not answer it`}},
		{"answer r1 yes", 2, []string{"run r1 is made by Temporal", `capstan-temporal answer r1 "yes" --question a/human_input`}},
		{"resume r1", 2, []string{"another engine continues it"}},
		{"resume r1 --from a", 2, []string{"run r1: another engine runs it", "could share nothing"}},
		{"resume r1 --input x=y --run-id new", 2, []string{"could share nothing"}},
		{"show r1", 0, []string{"ok?"}}, // the run waits for an answer
	} {
		var out bytes.Buffer
		command := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
		status := command.Run(t.Context(), append(strings.Fields(c.args), "--store", store))
		if status != c.status {
			t.Errorf("%s: exit status %d, %s", c.args, status, out.String())
		}
		for _, says := range c.says {
			if !strings.Contains(out.String(), says) {
				t.Errorf("%s: does not say %q: %s", c.args, says, out.String())
			}
		}
	}
}
