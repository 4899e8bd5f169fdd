package main

import (
	"context"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// statsFlags are the flags of stats and cost.
type statsFlags struct {
	gate   string
	runs   []string
	labels string
	format string
	write  bool
	check  bool
	judges bool
	all    bool
	alarms int
	run    runFlags
}

// add adds the common flags.
func (f *statsFlags) add(cmd *cobra.Command) {
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.runs, "runs", nil, flagTexts["runs"])
	flags.StringVar(&f.labels, "labels", "", flagTexts["labels"])
	jsonFlag(cmd, &f.format)
	flags.Var((*modelflag.Models)(&f.run.model), "model", flagTexts["model"])
}

// A scale contains what a measurement needs: the kit, and the present cascade.
type scale struct {
	*kit
	runner  *runner.Runner
	cascade *cascades.Cascade
	chosen  string
}

// openStats opens the journal and loads the cascade.
func (c *Command) openStats(file string, f statsFlags) (*scale, error) {
	j, err := c.openStored(f.run.store, true)
	if err != nil {
		return nil, err
	}
	s := &scale{kit: c.quietly(j, f.run)}
	s.closers = append(s.closers, func() { j.Close() })
	s.chosen = s.models.chosen(f.run.model, file)
	if s.runner, err = s.kit.runner(c, f.run, s.chosen); err == nil {
		s.cascade, err = s.runner.Load(file)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// question returns the input of a measurement: the present and earlier gates, labels and evidence.
func (c *Command) question(ctx context.Context, s *scale, f statsFlags) (q trust.Question, err error) {
	cascade := s.cascade
	gates, err := cascade.Gates(cascades.Chosen(s.chosen), runner.ReadFile)
	if err != nil {
		return q, &exit{exitBroken, err}
	}
	if f.gate != "" && !slices.ContainsFunc(gates, func(g cascades.Gate) bool { return g.Name == f.gate }) {
		return q, usage("%s has no gate %q", cascade.File, f.gate)
	}
	labels, err := c.readLabels(labelDir(cascade.File, f.labels), f.labels != "")
	if err != nil {
		return q, err
	}
	evidence, err := readEvidence(cascade.File, gates)
	if err != nil {
		return q, err
	}
	return trust.Question{
		CascadeID: cascade.ID, Gates: gates, Gate: f.gate, Labels: stats.NewLedger(labels), FalseAlarms: f.alarms,
		Past:  func(id string) ([]cascades.Gate, error) { return s.past(ctx, id) },
		Judge: s.rejudge(ctx, labelDir(cascade.File, f.labels)),
		Evidence: func(g cascades.Gate) (stats.Evidence, bool, bool) {
			return evidence[g.Name].For(cascade.ID, g.Digest, g.Phase, string(g.Moment))
		},
	}, nil
}

// asked measures the gates with stored runs and labels. look is called with each attempt, unless it
// is nil.
func (c *Command) asked(ctx context.Context, s *scale, f statsFlags, look func(*journal.Attempt)) (*trust.Result, error) {
	q, err := c.question(ctx, s, f)
	if err != nil {
		return nil, err
	}
	attempts, err := attemptsOf(ctx, s.models.journal, s.cascade.ID, f.runs)
	if err != nil {
		return nil, err
	}
	q.Look = look
	report, err := q.Ask(attempts)
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	return report, nil
}

// past returns the gates of a run at its start.
func (s *scale) past(ctx context.Context, id string) ([]cascades.Gate, error) {
	run, err := s.models.journal.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	was, err := s.runner.Unpack(run.Start.Files)
	if err != nil {
		return nil, err
	}
	return run.Start.Gates(was)
}

// attemptsOf returns the attempts of the named runs, or else of all runs of the cascade.
func attemptsOf(ctx context.Context, j *journal.Journal, cascade string, runs []string) (iter.Seq2[journal.Attempt, error], error) {
	ids, err := runIDs(ctx, j, runs)
	if err != nil {
		return nil, err
	}
	all := j.Attempts(ctx, journal.Filter{Cascade: cascade})
	if len(runs) == 0 {
		return all, nil
	}
	return func(yield func(journal.Attempt, error) bool) {
		for a, err := range all {
			if (err != nil || slices.Contains(ids, a.RunID)) && !yield(a, err) {
				return
			}
		}
	}, nil
}
