package main

import (
	"context"
	"fmt"
	"iter"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

type backtestFlags struct {
	runs   []string
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
			return c.runBacktest(cmd.Context(), args[0], f)
		},
	}
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.runs, "runs", nil, flagTexts["runs"])
	flags.BoolVar(&f.judges, "judges", false, flagTexts["judges"])
	flags.BoolVar(&f.exec, "run-programs", false, flagTexts["run-programs"])
	flags.Var((*modelflag.Models)(&f.run.model), "model", flagTexts["model"])
	choose(cmd, &f.format, "format", "output format", "text", "json", "junit")
	jsonFlag(cmd, &f.format)
	return cmd
}

func (c *Command) runBacktest(ctx context.Context, file string, f backtestFlags) error {
	j, err := c.openStored(f.run.store, true)
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
	source, err := past(ctx, j, cascade, f.runs)
	if err != nil {
		return err
	}
	if f.judges {
		if err := s.models.ready(cascade, chosen); err != nil {
			return err
		}
	}
	result, err := backtest.Test{
		Cascade: cascade, Host: r.Host(ctx), Source: source, Model: chosen,
		Judges: f.judges, Exec: f.exec, Any: len(f.runs) > 0, Parallel: runtime.GOMAXPROCS(0),
	}.Run(ctx)
	if err != nil {
		return stopped(ctx, err)
	}
	if err := c.printReport(result.Report(), f.format); err != nil {
		return err
	}
	switch {
	case !result.Same():
		return &exit{status: exitNo}
	case result.Verdicts.NoVerdict > 0:
		return &exit{exitBroken, fmt.Errorf("%d checks gave no verdict", result.Verdicts.NoVerdict)}
	}
	return nil
}

// past returns the named runs, or else all runs of the cascade, the newest first.
func past(ctx context.Context, j *journal.Journal, cascade *cascades.Cascade, names []string) (backtest.Source, error) {
	source := backtest.Source{Events: func(ctx context.Context, id string) iter.Seq2[event.Event, error] {
		return j.Events(ctx, id, 0, journal.Brief)
	}}
	var err error
	if source.Runs, err = runIDs(ctx, j, names); err != nil || len(names) > 0 {
		return source, err
	}
	list, err := j.Runs(ctx, journal.Filter{Cascade: cascade.ID})
	if err != nil {
		return source, &exit{exitBroken, err}
	}
	for _, s := range list {
		source.Runs = append(source.Runs, s.RunID)
	}
	return source, nil
}

// runIDs returns the full names of runs.
func runIDs(ctx context.Context, j *journal.Journal, names []string) (ids []string, err error) {
	for _, name := range names {
		run, err := j.Run(ctx, name)
		if err != nil {
			return nil, found(err, name)
		}
		ids = append(ids, run.RunID)
	}
	return ids, nil
}
