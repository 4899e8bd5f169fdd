package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		if got := c.Run(t.Context(), []string{"verify", "-", row.sealed, "--pub", pub}); got != row.want {
			t.Errorf("%s, %s: status %d, want %d: %s%s", row.text, row.sealed, got, row.want, &out, &said)
		}
		if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
			t.Errorf("%s, %s: left behind: %v, %v", row.text, row.sealed, left, err)
		}
	}
}
