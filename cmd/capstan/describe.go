package main

import (
	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
)

func (c *Command) describe() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "Tell what a cascade takes, does and asks, and how it is run",
		Long: `Tell what a cascade takes, does and asks: its inputs with who reads them, its
phases with their gates, its tools with what they do to the world, the models
with who names them, the model calls it makes at worst, the files it is made
of, and a command line to copy.`,
		Example: `  capstan describe post.yaml
  capstan describe post.yaml --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.tell(args[0], asJSON, func(cascade *cascades.Cascade) texter {
				c.notePrices(cascade, "")
				return cascade.Describe()
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.names.add(cmd)
	return cmd
}
