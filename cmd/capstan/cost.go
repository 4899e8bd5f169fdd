package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/runner/cost"
	"github.com/seed61713e19/capstan/runner/measure"
)

func (c *Command) cost() *cobra.Command {
	f := weighFlags{alarms: measure.FalseAlarms}
	cmd := &cobra.Command{
		Use:   "cost FILE",
		Short: "Tell what an accepted output costs, and would cost otherwise, of kept runs",
		Long: `Tell what an accepted output of each phase costs, of kept runs: how often an
attempt is accepted where those before it were not, by its number, by the model
that wrote, by the gate that refused it and by the reason, one that comes twice in
a row told apart; and what the same runs would have cost with another budget,
another ladder of models that were seen, or an earlier end. Nothing is said of
what no run has tried. Each figure is made of the first half of the runs too and
held against the second. It asks no model.`,
		Example: `  capstan measure cost post.yaml
  capstan measure cost post.yaml --runs nightly-1,nightly-2 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.costs(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	cmd.Flags().Lookup("json").Usage = "print one JSON object"
	return cmd
}

func (c *Command) costs(ctx context.Context, file string, f weighFlags) error {
	s, err := c.weigh(file, f)
	if err != nil {
		return err
	}
	defer s.close()
	b := cost.NewBuilder(s.cascade.ID)
	trusted, err := c.asked(ctx, s, f, b.Add)
	if err != nil {
		return err
	}
	if err := c.report(f.format, b.Report(trusted.Ceilings())); err != nil {
		return &exit{exitBroken, err}
	}
	return nil
}
