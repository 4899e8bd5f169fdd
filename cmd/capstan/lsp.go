package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/lsp"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
)

func (c *Command) lsp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Start a language server for editors",
		Long: `Start a language server on standard input and output, with diagnostics, completion,
hover, definitions, references, renaming and fixes. The server writes no file, starts no
program and calls no model.`,
		Example: `  capstan lsp`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.serveEditor(cmd.Context()) },
	}
	cmd.Flags().Bool("stdio", true, "as some editors ask for; there is no other way")
	return cmd
}

func (c *Command) serveEditor(ctx context.Context) error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	out := unfiltered(c.Stdout) // the protocol counts bytes, and the text is the editor's own
	err = lsp.Serve(ctx, &pipe{c.Stdin, out}, lsp.Options{
		Known: r.Known(), Read: runner.ReadFile, List: nameable, Version: versionName(),
		Plan: func(cascade *cascades.Cascade) cascades.Plan {
			chosen := newModels(c.Getenv, false, nil, c.names.root).chosen("", cascade.File)
			return cascade.Plan(cascades.Chosen(chosen), cascade.Priced())
		},
		Models: modelNames(),
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return &exit{exitBroken, fmt.Errorf("editor: %w", err)}
	}
	return nil
}

// modelNames lists the models with a public price, as a cascade names them.
func modelNames() (names []string) {
	for _, l := range model.PublicPrices().Models {
		switch _, builtIn := model.Builtin(l.Providers[0]); {
		case l.Providers[0] == model.OpenAI:
			names = append(names, l.Names[0])
		case builtIn:
			names = append(names, l.Providers[0]+":"+l.Names[0])
		}
	}
	slices.Sort(names)
	return names
}

// A pipe combines the two ends of a connection.
type pipe struct {
	io.Reader
	io.Writer
}

// Close closes the reading end, if possible.
func (p *pipe) Close() error {
	if r, ok := p.Reader.(io.Closer); ok {
		return r.Close()
	}
	return nil
}

// nameable returns the cascades and templates in a folder and its direct
// subfolders.
func nameable(dir string) []string {
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(filepath.FromSlash(dir), pattern))
		for _, name := range found {
			ext := filepath.Ext(name)
			if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || len(names) >= 500 || isScript(name) ||
				!slices.Contains([]string{".yaml", ".yml", ".json", ".md", ".txt", ".j2"}, ext) {
				continue
			}
			if short, err := filepath.Rel(filepath.FromSlash(dir), name); err == nil {
				names = append(names, filepath.ToSlash(short))
			}
		}
	}
	return names
}
