package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/windlass/convert"
	"github.com/seed61713e19/capstan/runner"
)

// A conversion is the result of convert --json for one file.
type conversion struct {
	File    string             `json:"file"`
	Changed bool               `json:"changed"`
	Loads   bool               `json:"loads"`
	Notes   []convert.Note     `json:"notes"`
	Left    syntax.Diagnostics `json:"diagnostics"` // of the source file, by its lines
	Text    string             `json:"text,omitempty"`
	Written string             `json:"written,omitempty"`
}

func (c *Command) convert() *cobra.Command {
	out, write, asJSON := "", false, false
	cmd := &cobra.Command{
		Use:   "convert FILE...",
		Short: "Convert Windlass or LARS cascades to Capstan",
		Long: `Convert JSON or YAML cascades, with a comment at each part that has no equivalent. The
result goes to standard output or to --out. --in-place replaces a YAML file, and writes
a YAML file next to a JSON file.`,
		Annotations: exitStatus("0 the result loads, 1 the result has mistakes, 2 a file is not a cascade"),
		Example: `  capstan convert old.json -o new.yaml
  capstan convert --in-place cells/*.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "-" {
				out = "" // - is a common name for standard output
			}
			if out != "" && (write || len(args) > 1) {
				return usage("-o is for one file, and not beside --in-place")
			}
			return c.convertFiles(args, out, write, asJSON)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", flagTexts["out"])
	cmd.Flags().BoolVar(&write, "in-place", false, "result in place of the file")
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

func (c *Command) convertFiles(files []string, out string, write, asJSON bool) error {
	r, err := c.reader()
	if err != nil {
		return err
	}
	read := func(name string, source []byte) syntax.Diagnostics { return wrong(r.Parse(name, source)) }
	status, all := exitOK, []conversion{}
	for _, file := range files {
		one, err := c.convertFile(file, out, write, read)
		var none syntax.Diagnostics
		switch {
		case errors.As(err, &none):
			status, one.Left = exitUsage, none
			fmt.Fprintln(c.Stderr, none)
		case err != nil:
			return err
		case !one.Loads:
			status = max(status, exitNo)
		}
		all = append(all, one)
		if !asJSON && err == nil {
			c.printConversion(one, len(files) > 1)
		}
	}
	if asJSON {
		if err := printJSON(c.Stdout, map[string]any{"files": all}); err != nil {
			return err
		}
	}
	if status != exitOK {
		return &exit{status: status}
	}
	return nil
}

// convertFile converts a file and writes the result, unless it is for standard
// output.
func (c *Command) convertFile(file, out string, write bool, read convert.Reader) (conversion, error) {
	one := conversion{File: file, Notes: []convert.Note{}}
	source, err := runner.ReadFile(file)
	if err != nil {
		return one, usage("%w", err)
	}
	result, err := convert.File(file, source, read)
	if err != nil {
		return one, err
	}
	one.Changed, one.Notes, one.Left, one.Loads = result.Changed, append(one.Notes, result.Notes...), result.Left, !result.Left.Broken()
	switch {
	case out != "":
		one.Written = out
		return one, notWritten(os.WriteFile(out, result.Text, 0o666))
	case !write:
		one.Text = string(result.Text)
		return one, nil
	case !result.Changed:
		return one, nil
	}
	if one.Written = convert.Name(file); one.Written != file {
		return one, notWritten(writeNew(one.Written, result.Text, 0o666))
	}
	return one, notWritten(writeOver(file, result.Text))
}

func (c *Command) printConversion(one conversion, several bool) {
	if one.Text != "" {
		if several {
			fmt.Fprintf(c.Stdout, "--- # %s\n", one.File)
		}
		fmt.Fprint(c.Stdout, one.Text)
	}
	for _, n := range one.Notes {
		fmt.Fprintf(c.Stderr, "%s:%d: %s\n", one.File, n.Line, n.Text)
	}
	what := "was in these words already"
	if one.Changed {
		what = fmt.Sprintf("written in Capstan's words, %d of its things otherwise", len(one.Notes))
	}
	if one.Written != "" {
		what += ", to " + one.Written
	}
	fmt.Fprintf(c.Stderr, "%s: %s\n", one.File, what)
	for _, d := range one.Left {
		if d.Severity == syntax.Wrong {
			fmt.Fprintf(c.Stderr, "  left: %d:%d: %s [%s]\n", d.Line, d.Column, d.Text(), d.Code)
		}
	}
}
