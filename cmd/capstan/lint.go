package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
)

func (c *Command) lint() *cobra.Command {
	format, fix, strict := "text", false, false
	cmd := &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Tell everything that is wrong with cascade files",
		Long: `Tell everything that is wrong with cascade files: those that are named, those
that a pattern such as 'gates/*.yaml' matches, and those within a directory.
There a cascade is what has a cascade_id; scripts (*.scripted.yaml) are left alone
everywhere.

--format github writes annotations for GitHub Actions. --fix puts right what can
only be meant in one way, a misspelt key or name, and changes nothing else of the
file.

Exit status: 0 nothing is wrong (there may be warnings), 2 something is.`,
		Example: `  capstan lint post.yaml
  capstan lint --fix cascades/
  capstan lint --format github 'cascades/*.yaml'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := cascadeFiles(args)
			if err != nil {
				return err
			}
			return c.lintFiles(files, format, fix, strict)
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "text, json, sarif or github")
	cmd.Flags().BoolVar(&fix, "fix", false, "put right what can only be meant in one way")
	cmd.Flags().BoolVar(&strict, "strict", false, "a warning is an error")
	return cmd
}

func (c *Command) lintFiles(files []string, format string, fix, strict bool) error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	found := cascades.Diagnostics{}
	for _, file := range files {
		d := diagnostics(r, file)
		for round := 0; fix && round < maxRounds; round++ {
			made, err := c.fixFiles(d)
			if err != nil {
				return err
			}
			if made == 0 {
				break
			}
			d = diagnostics(r, file)
		}
		found = append(found, d...)
	}
	if strict {
		found = found.Strict()
	}
	if err := c.printDiagnostics(found, format); err != nil {
		return err
	}
	if found.Broken() {
		return &exit{status: exitUsage}
	}
	return nil
}

// maxRounds bounds how often a file is read again after a fix, which may show
// what else is wrong.
const maxRounds = 10

// diagnostics is all that is to be told of a file.
func diagnostics(r *runner.Runner, file string) cascades.Diagnostics {
	read, err := r.Load(file)
	var d cascades.Diagnostics
	if !errors.As(err, &d) && read != nil {
		d = read.Warnings
	}
	return d
}

// fixFiles makes the sure fixes in the files that they are for, and tells how many
// there were.
func (c *Command) fixFiles(found cascades.Diagnostics) (int, error) {
	all := 0
	var done []string
	for _, d := range found {
		if d.Fix == nil || !d.Fix.Sure || slices.Contains(done, d.Fix.File) {
			continue
		}
		file := d.Fix.File
		done = append(done, file)
		info, err := os.Stat(file)
		if err != nil {
			return all, fmt.Errorf("fix: %w", err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return all, fmt.Errorf("fix: %w", err)
		}
		fixed, made := found.Fixed(file, text)
		if made == 0 {
			continue
		}
		if err := os.WriteFile(file, fixed, info.Mode().Perm()); err != nil {
			return all, fmt.Errorf("fix: %w", err)
		}
		fmt.Fprintf(c.Stderr, "%s: %d fixed\n", file, made)
		all += made
	}
	return all, nil
}

// cascadeFiles are the files that arguments of lint stand for, each once.
func cascadeFiles(args []string) ([]string, error) {
	var files []string
	add := func(name string) {
		if !slices.Contains(files, name) && !isScript(name) {
			files = append(files, name)
		}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		matches, _ := filepath.Glob(arg)
		switch {
		case err == nil && info.IsDir():
			within, err := cascadesWithin(arg)
			if err != nil {
				return nil, fmt.Errorf("folder %s: %w", arg, err)
			}
			for _, name := range within {
				add(name)
			}
		case err != nil && len(matches) > 0:
			for _, name := range matches {
				if meantAsCascade(name) {
					add(name)
				}
			}
		case err != nil && strings.ContainsAny(arg, "*?["):
			return nil, usage("no file is called %s", arg)
		default:
			add(arg)
		}
	}
	return files, nil
}

// cascadesWithin lists the cascade files within a folder, in order; what is hidden
// and what a package manager has put there is not looked at.
func cascadesWithin(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.Type().IsRegular() && meantAsCascade(name):
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

func isScript(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), ".scripted")
}

// meantAsCascade tells a cascade, however wrong it is, from the other files of a
// directory.
func meantAsCascade(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".yaml" || ext == ".yml" || ext == ".json") && !isScript(name) && isCascade(name)
}

func (c *Command) printDiagnostics(found cascades.Diagnostics, format string) error {
	switch format {
	case "text":
		if len(found) > 0 {
			fmt.Fprintln(c.Stdout, found)
		}
		return nil
	case "json":
		return printJSON(c.Stdout, map[string]any{"diagnostics": found})
	case "github":
		for _, d := range found {
			fmt.Fprintf(c.Stdout, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", d.Severity, property(d.File), d.Line, d.Column, property(d.Code), data(d.Told()))
		}
		return nil
	case "sarif":
		report := newSARIF()
		for _, d := range found {
			report.add(finding{rule: d.Code, level: d.Severity, message: d.Told(), file: d.File, line: d.Line, column: d.Column})
		}
		return printJSON(c.Stdout, report)
	default:
		return usage("--format must be text, json, sarif or github, not %q", format)
	}
}

// data and property escape texts of an annotation, as GitHub's toolkit does.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

// reader is a runner that only reads cascade files: it knows every tool.
func (c *Command) reader() (*runner.Runner, error) {
	return runner.New(withGates(), runner.WithTools(tools(tool.Options{})...), runner.WithRemote(&remote{}))
}

// load reads a cascade file for looking at it.
func (c *Command) load(file string) (*cascades.Cascade, error) {
	r, err := c.reader()
	if err != nil {
		return nil, err
	}
	return r.Load(file)
}
