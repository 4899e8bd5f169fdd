package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/journal"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	elapsed = regexp.MustCompile(`\b\d+\.\ds\b`)
	counted = regexp.MustCompile(`, (about )?\d+ tokens`)
	runName = regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{8}\b`)
	dated   = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)
	lasted  = regexp.MustCompile(`\b(\d+(\.\d+)?(ms|s)|TOOK)\b +`) // the column has the width of its longest value
)

// TestPages runs the console blocks of the README and of the pages in docs, without those
// of [guides]. A line "$ capstan …" is a command and "$ echo $?" prints its exit
// status. The lines below are compared with the output, except run names and times.
func TestPages(t *testing.T) {
	t.Chdir("../..")
	ran := 0
	for _, page := range pageNames(t) {
		if slices.ContainsFunc(guides, func(pattern string) bool { guide, _ := filepath.Match(pattern, page); return guide }) {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		store := filepath.Join(t.TempDir(), "runs.db")
		changed := fenced.ReplaceAllFunc(text, func(block []byte) []byte {
			m := fenced.FindSubmatch(block)
			if string(m[1]) != "console" {
				return block
			}
			ran++
			want := string(m[2])
			got := console(t, want, store)
			if plainTimes(got) == plainTimes(want) {
				return block
			}
			if !*update {
				t.Errorf("%s: got\n%s\nwant\n%s", page, got, want)
			}
			return []byte("```console\n" + got + "```")
		})
		if *update && !bytes.Equal(changed, text) {
			if err := os.WriteFile(page, changed, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ran == 0 {
		t.Error("no page shows a command")
	}
}

func plainTimes(s string) string {
	s = lasted.ReplaceAllString(dated.ReplaceAllString(s, "DATE"), "0ms  ")
	return runName.ReplaceAllString(elapsed.ReplaceAllString(s, "0.0s"), "RUN")
}

// console runs the commands of a block with runs in store, and returns the
// block with the actual output.
func console(t *testing.T, block, store string) string {
	t.Helper()
	var out bytes.Buffer
	status := 0
	for line := range strings.Lines(block) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !isCommand {
			continue
		}
		out.WriteString(line)
		if strings.TrimSpace(command) == "echo $?" {
			fmt.Fprintln(&out, status)
			continue
		}
		words := shellWords(strings.TrimSpace(command))
		if words[0] != "capstan" {
			t.Fatalf("a page shows %q, which is not ours to run", command)
		}
		getenv := func(name string) string { return map[string]string{"CAPSTAN_STORE": store}[name] }
		c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: getenv}
		status = c.Run(context.Background(), words[1:])
	}
	return out.String()
}

var word = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)

func shellWords(s string) []string {
	var out []string
	for _, m := range word.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}

// TestReadmeExample checks that the README has at most 1,200 words, and its
// example at most 20 lines without findings of lint.
func TestReadmeExample(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > 1200 {
		t.Errorf("%d words", n)
	}
	t.Chdir(t.TempDir())
	n := 0
	for _, m := range fenced.FindAllSubmatch(text, -1) {
		if string(m[1]) != "yaml" {
			continue
		}
		n++
		if lines := bytes.Count(m[2], []byte("\n")); lines > 20 {
			t.Errorf("%d lines", lines)
		}
		if err := os.WriteFile("example.yaml", m[2], 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: unkept}
		if status := c.Run(t.Context(), []string{"lint", "--strict", "example.yaml"}); status != exitOK {
			t.Error(out.String())
		}
	}
	if n != 1 {
		t.Errorf("%d examples", n)
	}
}

// TestReadmePrograms builds and runs the Go programs of the README.
func TestReadmePrograms(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range fenced.FindAllSubmatch(text, -1) {
		if string(m[1]) != "go" {
			continue
		}
		n++
		got := goRun(t, m[2])
		if want := "succeeded Owls see in the dark. <nil>\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if n == 0 {
		t.Error("the README shows no program")
	}
}

// goRun runs a program as a package of this module.
func goRun(t *testing.T, source []byte) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "cmd/embedding/main.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-overlay", list, "./cmd/embedding")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestSQLColumns compares the columns of the views with the page of runs.
func TestSQLColumns(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/runs.md")
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, view := range []string{"runs", "phases", "attempts", "verdicts", "calls"} {
		table, err := j.Query(t.Context(), "SELECT * FROM "+view, 1)
		if err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile("(?m)^\\| `" + view + "` \\|.*\\| (.*) \\|$").FindSubmatch(text)
		if row == nil || string(row[1]) != strings.Join(table.Columns, ", ") {
			t.Errorf("%s has %s; the page says %s", view, strings.Join(table.Columns, ", "), row)
		}
	}
}

// TestEmbeddingPage checks that the code on the page on embedding is part of
// the tested example.
func TestEmbeddingPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/go.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../runner/example_server_test.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range fenced.FindAllSubmatch(page, -1) {
		n++
		if !bytes.Contains(example, m[2]) {
			t.Errorf("the example has not\n%s", m[2])
		}
	}
	if n < 4 {
		t.Errorf("only %d pieces", n)
	}
}
