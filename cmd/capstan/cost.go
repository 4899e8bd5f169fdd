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
		Short: "Report the cost of accepted outputs",
		Long: `Report what an accepted output of each phase costs, by attempt, model, gate and reason.
Also estimate the cost of the same runs with another budget, another fallback list or an
earlier stop. Each estimate uses the first half of the runs and is compared with the
second half. The command calls no model.`,
		Example: `  capstan measure cost post.yaml
  capstan measure cost post.yaml --runs nightly-1,nightly-2 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.costs(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
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
	if err := c.report(f.format, b.Report(trusted.Released())); err != nil {
		return &exit{exitBroken, err}
	}
	return nil
}
