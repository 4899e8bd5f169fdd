package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/proofs"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/journal"
)

func (c *Command) graph() *cobra.Command {
	format, proof := "mermaid", false
	var store storeFlags
	cmd := &cobra.Command{
		Use:   "graph FILE|RUN",
		Short: "Draw a cascade or a run as a diagram",
		Long: `Draw the phases of a cascade, or the phases that a run visited, with their results. RUN
is the name of a run, the beginning of a name, or last. --writes draws the paths from
models to the tools that write, with the gates on each path.`,
		Example: `  capstan graph post.yaml --format svg > post.svg
  capstan graph last`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cascade, marks, err := c.drawn(cmd.Context(), args[0], store)
			if err != nil {
				return err
			}
			var g drawing = cascade.Graph(marks)
			if proof {
				g = proofs.Of(cascade).Graph()
			}
			draw := map[string]func() string{"mermaid": g.Mermaid, "dot": g.Dot, "svg": g.SVG}[format]
			_, err = io.WriteString(c.Stdout, draw())
			return err
		},
	}
	store.add(cmd)
	choose(cmd, &format, "format", "output format", "mermaid", "dot", "svg")
	cmd.Flags().BoolVar(&proof, "writes", false, "only the paths to tools that write")
	c.names.add(cmd)
	return cmd
}

// A drawing is a graph in each format.
type drawing interface {
	Mermaid() string
	Dot() string
	SVG() string
}

// drawn returns the cascade to draw. If the word is not a file, it is a run,
// whose path is marked.
func (c *Command) drawn(ctx context.Context, word string, store storeFlags) (*cascades.Cascade, *graphs.Marks, error) {
	if isFile(word) {
		cascade, err := c.load(word)
		return cascade, nil, err
	}
	j, err := c.openStored(store, true)
	if err != nil {
		return nil, nil, err
	}
	defer j.Close()
	run, err := j.Run(ctx, word)
	if err != nil {
		return nil, nil, found(err, word)
	}
	cascade, err := c.ran(run)
	if err != nil {
		return nil, nil, err
	}
	done, err := trace.Fold(j.Events(ctx, run.RunID, 0, journal.Brief))
	if err != nil {
		return nil, nil, &exit{exitBroken, err}
	}
	return cascade, done.Marks(), nil
}

// ran returns the cascade of a run, as the run stored it.
func (c *Command) ran(run *journal.Run) (*cascades.Cascade, error) {
	r, err := c.reader()
	if err != nil {
		return nil, usage("%w", err)
	}
	return r.Unpack(run.Start.Files)
}

func (c *Command) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [cascade|set|result|label|evidence]",
		Short: "Print the JSON Schema of a file format",
		Long: `Print the JSON Schema of cascade files, or of a dataset row (set), a line of batch
results, a label or evidence. The schema of cascade files contains the names and the
parameters of the built-in validators and tools.`,
		Example: `  capstan schema > cascade.schema.json
  capstan schema set`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"cascade", "set", "result", "label", "evidence"},
		RunE: func(_ *cobra.Command, args []string) error {
			of := map[string]func() map[string]any{
				"set": batch.DatasetSchema, "result": batch.ResultSchema, "label": stats.LabelSchema, "evidence": stats.EvidenceSchema,
			}
			if len(args) == 1 && of[args[0]] != nil {
				return printJSON(c.Stdout, of[args[0]]())
			}
			r, err := c.reader()
			if err != nil {
				return err
			}
			text, err := cascades.JSONSchemaOf(r.Known())
			if err != nil {
				return &exit{exitBroken, err}
			}
			_, err = fmt.Fprintf(c.Stdout, "%s\n", text)
			return err
		},
	}
}

// A texter is a description of a cascade, as text or JSON.
type texter interface{ Text() string }

// printDescription prints a description of the cascade in a file.
func (c *Command) printDescription(file string, asJSON bool, what func(*cascades.Cascade) texter) error {
	cascade, err := c.load(file)
	if err != nil {
		return err
	}
	description := what(cascade)
	if asJSON {
		return printJSON(c.Stdout, description)
	}
	_, err = io.WriteString(c.visible(), description.Text())
	return err
}
