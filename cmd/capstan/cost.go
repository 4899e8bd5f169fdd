package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/measures/cost"
	"github.com/seed61713e19/capstan/internal/measures/stats"
)

func (c *Command) cost() *cobra.Command {
	f := statsFlags{alarms: stats.FalseAlarms}
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

func (c *Command) costs(ctx context.Context, file string, f statsFlags) error {
	s, err := c.openStats(file, f)
	if err != nil {
		return err
	}
	defer s.close()
	b := cost.NewBuilder(s.cascade.ID)
	result, err := c.asked(ctx, s, f, b.Add)
	if err != nil {
		return err
	}
	return c.printReport(b.Result(result.Released()).Report(), f.format)
}
