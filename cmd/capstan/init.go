package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades/examples"
)

//go:embed starter
var started embed.FS

// A part is a file that init writes, with its source.
type part struct {
	name string
	in   fs.FS
	from string
}

// first is the name of the cascade that init writes.
const first = "review_document"

// starter lists the files that init writes: a cascade, scripted replies, a
// text, labels, a dataset and a CI job. The first test case is recorded from a
// run.
var starter = []part{
	{first + ".yaml", examples.Files, first + ".yaml"},
	{first + ".scripted.yaml", examples.Files, first + ".scripted.yaml"},
	{"document.md", started, "starter/document.md"},
	{casesDir + "/documents.jsonl", started, "starter/documents.jsonl"},
	{"labels/README.md", started, "starter/labels.md"},
	{".github/workflows/capstan.yml", started, "starter/capstan.yml"},
}

func (c *Command) init() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create a first cascade with a script, a test and a CI job",
		Long: `Create a folder to start from: a cascade, scripted replies, an input text, a recorded
test, a dataset, a folder for labels, and a GitHub Actions job that needs no key.
Existing files are never overwritten.`,
		Example: `  capstan init
  capstan init reviews && cd reviews && capstan test`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return c.start(cmd.Context(), dir)
		},
	}
}

func (c *Command) start(ctx context.Context, dir string) error {
	frozen := filepath.Join(dir, casesDir, "first")
	there := []string{frozen}
	for _, p := range starter {
		there = append(there, filepath.Join(dir, filepath.FromSlash(p.name)))
	}
	for _, name := range there {
		if _, err := os.Lstat(name); err == nil {
			return usage("%s is there already; nothing was written", name)
		}
	}
	for i, p := range starter {
		text, err := fs.ReadFile(p.in, p.from)
		if err != nil {
			return &exit{exitBroken, err}
		}
		name := there[i+1]
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return usage("%w", err)
		}
		if err := notWritten(writeNew(name, text, 0o666)); err != nil {
			return err
		}
		fmt.Fprintln(c.Stdout, name)
	}
	if err := c.freezeFirst(ctx, dir); err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, frozen)
	at := ""
	if dir != "." {
		at = "  cd " + dir + "\n"
	}
	fmt.Fprintf(c.Stderr, "Try it without a key:\n%s  capstan run %[2]s.yaml --model scripted --input document=@document.md\n"+
		"  capstan lint .\n  capstan test\n  capstan eval %[2]s.yaml --each tests/documents.jsonl --model scripted\n", at, first)
	return nil
}

// freezeFirst runs the cascade with its script and freezes the run as the first
// case of the cascade in use, with the same verbs as a person would. The run is
// kept nowhere else.
func (c *Command) freezeFirst(ctx context.Context, dir string) error {
	store, err := os.MkdirTemp("", "capstan-init-")
	if err != nil {
		return &exit{exitBroken, err}
	}
	defer os.RemoveAll(store)
	here, err := os.Getwd()
	if err == nil {
		err = os.Chdir(dir) // a case names the script, which is not to be this machine's
		defer os.Chdir(here)
	}
	if err != nil {
		return usage("%w", err)
	}
	var stderr bytes.Buffer
	quiet := Command{Stdin: c.Stdin, Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" }, Environ: c.Environ}
	db := filepath.Join(store, "runs.db")
	for _, args := range [][]string{
		{"run", first + ".yaml", "--model", "scripted", "--input", "document=@document.md", "--store", db, "-q"},
		{"test", "record", "last", "--name", "first", "--tests", casesDir, "--link", "--store", db},
	} {
		if status := quiet.Run(ctx, args); status != exitOK {
			return &exit{status, fmt.Errorf("the first test: %s", bytes.TrimSpace(stderr.Bytes()))}
		}
	}
	return nil
}
