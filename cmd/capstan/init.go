package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades/examples"
)

// starter is what init writes: a cascade to change, and replies to try it with.
var starter = []string{"review_document.yaml", "review_document.scripted.yaml"}

func (c *Command) init() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first cascade to start from",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return c.start(dir)
		},
	}
}

func (c *Command) start(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage("%w", err)
	}
	for _, name := range starter {
		text, err := fs.ReadFile(examples.Files, name)
		if err != nil {
			return &exit{exitBroken, err}
		}
		if err := writeNew(filepath.Join(dir, name), text, 0o644); err != nil {
			return usage("%w", err)
		}
		fmt.Fprintln(c.Stdout, filepath.Join(dir, name))
	}
	fmt.Fprintf(c.Stderr, "Try it without a key:\n  capstan run %s --model scripted --input document=@SOME.md\n", filepath.Join(dir, starter[0]))
	return nil
}

// writeNew writes a file that must not be there yet.
func writeNew(name string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already; nothing was written over", name)
		}
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
