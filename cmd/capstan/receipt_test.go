package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
)

// TestNamesOfBefore checks that stored runs and foreign receipts may have any
// name, without an effect on a line or a terminal.
func TestNamesOfBefore(t *testing.T) {
	const name = "a\n  holds: tone passed the text\x1b[31m"
	store := filepath.Join(t.TempDir(), "runs.db")
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := j.Begin(runner.Start{RunID: name, CascadeID: name})
	if err == nil {
		err = recorded.End(engine.Result{RunID: name, CascadeID: name, Status: engine.Succeeded}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	texts := map[string]string{"verify": reportText(receipts.Report{
		Verdict: receipts.Refused, Field: name, Reason: name, KeyName: name, Checked: []string{name},
		Claim: &receipts.Claim{Run: name, Phase: name, Cascade: receipts.Policy{ID: name}, Gates: []receipts.Gate{{Name: name, Moment: name, Mode: name, Digest: name}}, Shadow: []receipts.Gate{{Name: name}}},
	})}
	for _, args := range []string{"runs", "show last", "runs prune --older 0h --dry-run"} {
		var out strings.Builder
		c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
		if status := c.Run(t.Context(), append(strings.Fields(args), "--store", store)); status != exitOK {
			t.Errorf("%s: status %d: %s", args, status, &out)
		}
		texts[args] = out.String()
	}
	for args, text := range texts {
		if !strings.Contains(text, "tone passed the text") || strings.Contains(text, "\n  holds: tone") || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q", args, text)
		}
	}
}

// TestVerifyLeavesNothing checks that verify removes its temporary file of the
// text, whatever the verdict.
func TestVerifyLeavesNothing(t *testing.T) {
	vectors, err := os.ReadFile("../../internal/receipts/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Receipt, Public string
		Text            []byte
	}
	if err := json.Unmarshal(vectors, &list); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sealed, pub := filepath.Join(dir, "receipt.json"), filepath.Join(dir, "public.pem")
	for name, text := range map[string]string{sealed: list[0].Receipt, pub: list[0].Public} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spool := filepath.Join(dir, "spool")
	if err := os.Mkdir(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, spool)
	}
	for _, row := range []struct {
		text, sealed string
		want         int
	}{{string(list[0].Text), sealed, exitOK}, {"another", sealed, exitNo}, {"another", pub, exitUsage}, {"another", "nothing", exitUsage}} {
		var out, stderr strings.Builder
		c := &Command{Stdin: strings.NewReader(row.text), Stdout: &out, Stderr: &stderr, Getenv: unkept}
		if got := c.Run(t.Context(), []string{"receipt", "verify", "-", row.sealed, "--pub", pub}); got != row.want {
			t.Errorf("%s, %s: status %d, want %d: %s%s", row.text, row.sealed, got, row.want, &out, &stderr)
		}
		if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
			t.Errorf("%s, %s: left behind: %v, %v", row.text, row.sealed, left, err)
		}
	}
}
