package main

import (
	"context"
	"iter"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/runner/cost"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
)

func (c *Command) cost() *cobra.Command {
	f := trustFlags{alarms: measure.FalseAlarms}
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
		Example: `  capstan cost post.yaml
  capstan cost post.yaml --runs nightly-1,nightly-2 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.costs(cmd.Context(), args[0], f) },
	}
	f.shared(cmd)
	return cmd
}

func (c *Command) costs(ctx context.Context, file string, f trustFlags) error {
	s, err := c.weigh(file, f)
	if err != nil {
		return err
	}
	defer s.close()
	q, err := c.question(ctx, s, f)
	if err != nil {
		return err
	}
	attempts, err := attemptsOf(ctx, s.models.journal, s.cascade.ID, f.runs)
	if err != nil {
		return err
	}
	b := cost.NewBuilder(s.cascade.ID)
	trusted, err := q.Ask(also(attempts, b.Add))
	if err != nil {
		return &exit{exitBroken, err}
	}
	ceilings := map[string]measure.Bound{}
	for _, p := range trusted.Phases {
		ceilings[p.Phase] = p.Ceiling
	}
	report := b.Report(ceilings)
	if f.asJSON {
		err = printJSON(c.Stdout, report)
	} else {
		err = report.Text(c.Stdout)
	}
	if err != nil {
		return &exit{exitBroken, err}
	}
	return nil
}

// also shows every attempt to somebody else on its way.
func also(attempts iter.Seq2[journal.Attempt, error], show func(*journal.Attempt)) iter.Seq2[journal.Attempt, error] {
	return func(yield func(journal.Attempt, error) bool) {
		for a, err := range attempts {
			if err == nil {
				show(&a)
			}
			if !yield(a, err) {
				return
			}
		}
	}
}
