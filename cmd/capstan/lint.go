package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
)

func (c *Command) lint() *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Tell everything that is wrong with cascade files",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, files []string) error { return c.lintFiles(files, format) },
	}
	cmd.Flags().StringVar(&format, "format", format, "text, json or sarif")
	return cmd
}

func (c *Command) lintFiles(files []string, format string) error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	found := cascades.Diagnostics{}
	for _, file := range files {
		c, err := r.Load(file)
		var d cascades.Diagnostics
		if errors.As(err, &d) {
			found = append(found, d...)
		} else if c != nil {
			found = append(found, c.Warnings...)
		}
	}
	if err := c.printDiagnostics(found, format); err != nil {
		return err
	}
	if found.Broken() {
		return &exit{status: exitUsage}
	}
	return nil
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
	case "sarif":
		report := newSARIF()
		for _, d := range found {
			message := d.Message
			if d.Suggestion != "" {
				message += fmt.Sprintf(", did you mean %q?", d.Suggestion)
			}
			report.add(finding{rule: d.Code, level: d.Severity, message: message, file: d.File, line: d.Line, column: d.Column})
		}
		return printJSON(c.Stdout, report)
	default:
		return usage("--format must be text, json or sarif, not %q", format)
	}
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
