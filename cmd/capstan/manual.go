//go:build manual

// With the tag "manual", the program writes the man pages and the shell completions
// of a release into a folder. The release's own program has no tag, so it carries no
// generator. SOURCE_DATE_EPOCH dates the pages.
//
//	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) go run -tags manual ./cmd/capstan FOLDER
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags manual ./cmd/capstan FOLDER")
		os.Exit(exitUsage)
	}
	c := &Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
	if err := writeManual(c.root(nil), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(exitBroken)
	}
}

// writeManual writes man/man1/capstan*.1, one page for each command, and
// completions/.
func writeManual(root *cobra.Command, folder string) error {
	pages, completions := filepath.Join(folder, "man", "man1"), filepath.Join(folder, "completions")
	for _, dir := range []string{pages, completions} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	untagged(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Capstan", Manual: "Capstan Manual"}, pages); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"capstan.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_capstan":     root.GenZshCompletion,
		"capstan.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"capstan.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		file, err := os.Create(filepath.Join(completions, name))
		if err != nil {
			return err
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// untagged omits the date of generation from each page.
func untagged(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, below := range cmd.Commands() {
		untagged(below)
	}
}
