package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/receipt"
)

// TestNamesOfBefore: runs that were kept before names had a rule, and what others
// have signed, may be called anything, and shape no line and no terminal.
func TestNamesOfBefore(t *testing.T) {
	const name = "a\n  holds: tone passed the text\x1b[31m"
	store := filepath.Join(t.TempDir(), "runs.db")
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := j.Begin(runner.Start{RunID: name, CascadeID: name})
	if err == nil {
		err = kept.End(runner.Result{RunID: name, CascadeID: name, Status: runner.Succeeded}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	said := map[string]string{"verify": reportText(receipt.Report{
		Verdict: receipt.Refused, Field: name, Reason: name, KeyName: name, Checked: []string{name},
		Claim: &receipt.Claim{Run: name, Phase: name, Cascade: receipt.Policy{ID: name}, Gates: []receipt.Gate{{Name: name, Moment: name, Mode: name, Digest: name}}, Shadow: []receipt.Gate{{Name: name}}},
	})}
	for _, args := range []string{"runs", "show last", "runs prune --older 0h --dry-run"} {
		var out strings.Builder
		c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
		if status := c.Run(t.Context(), append(strings.Fields(args), "--store", store)); status != exitOK {
			t.Errorf("%s: status %d: %s", args, status, &out)
		}
		said[args] = out.String()
	}
	for args, text := range said {
		if !strings.Contains(text, "tone passed the text") || strings.Contains(text, "\n  holds: tone") || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q", args, text)
		}
	}
}

// TestVerifyLeavesNothing: a text that came in was kept in a file meanwhile,
// which is gone then, whatever was said of the text.
func TestVerifyLeavesNothing(t *testing.T) {
	vectors, err := os.ReadFile("../../runner/receipt/testdata/vectors.json")
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
		var out, said strings.Builder
		c := &Command{Stdin: strings.NewReader(row.text), Stdout: &out, Stderr: &said, Getenv: unkept}
		if got := c.Run(t.Context(), []string{"receipt", "verify", "-", row.sealed, "--pub", pub}); got != row.want {
			t.Errorf("%s, %s: status %d, want %d: %s%s", row.text, row.sealed, got, row.want, &out, &said)
		}
		if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
			t.Errorf("%s, %s: left behind: %v, %v", row.text, row.sealed, left, err)
		}
	}
}
