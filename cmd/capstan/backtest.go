package main

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/backtest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/journal"
)

type backtestFlags struct {
	runs   []string
	limit  int
	judges bool
	exec   bool
	format string
	run    runFlags
}

func (c *Command) backtest() *cobra.Command {
	f := backtestFlags{format: "text"}
	cmd := &cobra.Command{
		Use:   "backtest FILE",
		Short: "Check stored texts against the current wards",
		Long: `Check the texts of stored runs against the wards of a cascade as it is now. The report
lists the verdicts, blocks and retries that differ. Computed checks run again without
cost. Judges need --judges, and programs need --run-programs; otherwise the recorded
verdict counts.`,
		Annotations: exitStatus("0 no difference, 1 a difference, 2 usage, 3 a validator without a verdict"),
		Example: `  capstan measure backtest post.yaml
  capstan measure backtest post.yaml --runs last --judges --model gpt-5-mini
  capstan measure backtest post.yaml --format junit > report.xml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.holdAgainst(cmd.Context(), args[0], f)
		},
	}
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.runs, "runs", nil, flagTexts["runs"])
	countedFrom0(cmd, &f.limit, "limit", flagTexts["limit"])
	flags.BoolVar(&f.judges, "judges", false, flagTexts["judges"])
	flags.BoolVar(&f.exec, "run-programs", false, flagTexts["run-programs"])
	flags.Var((*given.Models)(&f.run.model), "model", flagTexts["model"])
	choose(cmd, &f.format, "format", "output format", "text", "json", "junit")
	jsonFlag(cmd, &f.format)
	return cmd
}

func (c *Command) holdAgainst(ctx context.Context, file string, f backtestFlags) error {
	j, err := c.kept(f.run.store, true)
	if err != nil {
		return err
	}
	defer j.Close()
	s := c.quietly(j, f.run)
	defer s.close()
	chosen := s.models.chosen(f.run.model, file)
	r, err := s.runner(c, f.run, chosen)
	if err != nil {
		return err
	}
	cascade, err := r.Load(file)
	if err != nil {
		return err
	}
	source, err := past(ctx, j, cascade, f)
	if err != nil {
		return err
	}
	if f.judges {
		if err := s.models.ready(cascade, chosen); err != nil {
			return err
		}
	}
	report, err := backtest.Test{
		Cascade: cascade, Host: r.Host(ctx), Source: source, Model: chosen,
		Judges: f.judges, Exec: f.exec, Any: len(f.runs) > 0, Parallel: runtime.GOMAXPROCS(0),
	}.Run(ctx)
	if err != nil {
		return stopped(ctx, err)
	}
	return c.tellBacktest(report, f.format)
}

func (c *Command) tellBacktest(report *backtest.Report, format string) (err error) {
	switch format {
	case "json":
		err = printJSON(c.Stdout, report)
	case "junit":
		err = report.JUnit(c.Stdout)
	default:
		err = report.Text(c.Stdout)
	}
	switch {
	case err != nil:
		return &exit{exitBroken, err}
	case !report.Same():
		return &exit{status: exitNo}
	case report.Verdicts.Unsaid > 0:
		return &exit{exitBroken, fmt.Errorf("%d checks could not say", report.Verdicts.Unsaid)}
	}
	return nil
}

// A keptRuns is the runs of a journal that a backtest looks at.
type keptRuns struct {
	*journal.Journal
	ids []string
}

// past picks the runs to look at: those that are named, else all of the
// cascade, the newest first.
func past(ctx context.Context, j *journal.Journal, cascade *cascades.Cascade, f backtestFlags) (keptRuns, error) {
	k := keptRuns{Journal: j}
	for _, id := range f.runs {
		run, err := j.Run(ctx, id)
		if err != nil {
			return k, found(err, id)
		}
		k.ids = append(k.ids, run.RunID)
	}
	if len(f.runs) > 0 {
		return k, nil
	}
	list, err := j.Runs(ctx, journal.Filter{Cascade: cascade.ID, Limit: f.limit})
	if err != nil {
		return k, &exit{exitBroken, err}
	}
	for _, s := range list {
		k.ids = append(k.ids, s.RunID)
	}
	return k, nil
}

// Runs names the runs.
func (k keptRuns) Runs(context.Context) ([]string, error) { return k.ids, nil }

// Events gives the events of a run.
func (k keptRuns) Events(ctx context.Context, id string) iter.Seq2[event.Event, error] {
	return k.Journal.Events(ctx, id, 0, journal.Brief)
}
