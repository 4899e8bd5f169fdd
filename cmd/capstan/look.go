package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
)

func (c *Command) plan() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Tell what a cascade may do at worst: model calls, validator calls",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cascade, err := c.load(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.Stdout, cascade.Plan())
			}
			_, err = io.WriteString(c.Stdout, cascade.Plan().Text())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c *Command) graph() *cobra.Command {
	format := "mermaid"
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a cascade",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cascade, err := c.load(args[0])
			if err != nil {
				return err
			}
			draw, ok := map[string]func() string{"mermaid": cascade.Mermaid, "dot": cascade.Dot, "svg": cascade.SVG}[format]
			if !ok {
				return usage("--format must be mermaid, dot or svg, not %q", format)
			}
			_, err = fmt.Fprint(c.Stdout, draw())
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "mermaid, dot or svg")
	return cmd
}

func (c *Command) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of cascade files, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := c.Stdout.Write(cascades.JSONSchema())
			return err
		},
	}
}
