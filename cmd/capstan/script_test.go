package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// TestScriptOfEveryCascade runs every shipped cascade with the output of
// capstan script. Every request must have a reply, whatever the gates decide.
func TestScriptOfEveryCascade(t *testing.T) {
	dir := t.TempDir()
	if err := unpack(dir); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	edit := []string{"--input", "source=@" + file("edit_source.md"), "--input", "status=@" + file("edit_status.yml"), "--input", "direction=@" + file("edit_direction.yml")}
	ends := map[string]struct {
		status int
		inputs []string
	}{
		"edit":               {exitBroken, edit}, // the judging cascade has nothing to judge
		"capy_pipeline":      {exitNo, nil},      // its gate needs a report
		"last_word":          {exitWaiting, nil},
		"schedule":           {exitBroken, []string{"--input", "creator_id=ada", "--input", "week_start=2026-01-05", "--input", "db=" + filepath.Join(dir, "none.db"), "--input", "signing_key=none", "--input", "verification_key=none"}},
		"each_demo":          {exitOK, []string{"--input", `reports:=["Sales","Staff"]`}},
		"triple_gate":        {exitNo, nil}, // it rejects a promise that is not JSON
		"until_tests_pass":   {exitNo, nil}, // --root has no Go module
		"validate_criterion": {exitOK, []string{"--input", `criterion:={"id":"c","description":"it is there"}`, "--input", "found:={}"}},
		"verify_edit":        {exitNo, append(slices.Clone(edit), "--input", "candidate=@"+file("edit_candidate.md"), "--input", "metadata=@"+file("edit_metadata.yml"))},
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if isScript(path) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			script := filepath.Join(dir, name+".made.yaml")
			text, status := capstan(t, dir, "script", path)
			if status != exitOK {
				t.Fatal(text)
			}
			if _, err := scripted.Parse(script, []byte(text), nil); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			end := ends[name]
			args := append([]string{"run", path, "--model", "scripted:" + script, "--root", t.TempDir()}, end.inputs...)
			if end.inputs == nil {
				args = append(args, plainInputs(t, path)...)
			}
			if output, status := capstan(t, dir, args...); status != end.status || strings.Contains(output, "no entry of") {
				t.Errorf("status %d, want %d:\n%s\nwith the script\n%s", status, end.status, output, text)
			}
		})
	}
}

// plainInputs returns a text for each required input of a cascade.
func plainInputs(t *testing.T, path string) []string {
	cascade, err := (&Command{Getenv: func(string) string { return "" }}).load(path)
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, in := range cascade.Describe().Inputs {
		if !in.HasDefault {
			args = append(args, "--input", in.Name+"=Some text")
		}
	}
	return args
}

// capstan runs one command line in this process, with its runs stored in dir.
func capstan(t *testing.T, dir string, args ...string) (output string, status int) {
	t.Helper()
	var out bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string {
		if name == "CAPSTAN_STORE" {
			return filepath.Join(dir, "runs.db")
		}
		return ""
	}}
	status = c.Run(context.Background(), args)
	return out.String(), status
}
