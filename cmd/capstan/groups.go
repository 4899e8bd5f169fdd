package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// parent makes a command of a group of commands. If it has no action of its own, it
// prints its help.
func parent(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(below...)
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if cmd.Args == nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, sub := range cmd.Commands() {
				names = append(names, sub.Name())
			}
			return usage("unknown command %q of %s%s; see %[2]s --help", args[0], cmd.CommandPath(), meant(args[0], names))
		}
	}
	return cmd
}

func (c *Command) runs() *cobra.Command {
	list := c.runsList()
	list.Use, list.Args = "runs", nil
	list.Short = "List, query, cancel and delete stored runs"
	list.Long = "List stored runs, newest first, or use a command below."
	list.Example = "  capstan runs\n  capstan runs --status blocked --limit 5\n  capstan runs prune --older 90d"
	return parent(list, c.runsList(), c.cancel(), c.prune(), c.sql())
}

func (c *Command) test() *cobra.Command {
	run := c.testRun()
	run.Use, run.Example = "test [FOLDER|NAME]...", strings.ReplaceAll(run.Example, "capstan test run", "capstan test")
	return parent(run, c.testRun(), c.record())
}

func (c *Command) measure() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "measure",
		Short: "Measure gates and the cost of accepted outputs",
		Example: `  capstan measure stats post.yaml
  capstan measure backtest post.yaml`,
	}, c.stats(), c.cost(), c.mutate(), c.label(), c.backtest())
}

func (c *Command) receipt() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "receipt",
		Short: "Sign and verify receipts of released texts",
		Example: `  capstan receipt keygen
  capstan receipt sign last --signing-key private.pem > post.receipt.json
  capstan receipt verify post.md post.receipt.json --pub public.pem`,
	}, c.keygen(), c.sign(), c.verify())
}

func (c *Command) list() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "list",
		Short: "List validators and tools with their parameters",
		Example: `  capstan list validators
  capstan list tools http_get`,
	}, c.validators(), c.tools())
}
