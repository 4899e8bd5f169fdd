package main

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/trust"
)

// weighFlags are the flags of trust and cost.
type weighFlags struct {
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

// add adds those that both have.
func (f *weighFlags) add(cmd *cobra.Command) {
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.runs, "runs", nil, flagTexts["runs"])
	flags.StringVar(&f.labels, "labels", "", flagTexts["labels"])
	jsonFlag(cmd, &f.format)
	flags.Var((*given.Models)(&f.run.model), "model", flagTexts["model"])
}

// A scale is what kept runs are weighed with: the kit, and the cascade as it is.
type scale struct {
	*kit
	runner  *runner.Runner
	cascade *cascades.Cascade
	chosen  string
}

// weigh opens what a look at kept runs needs.
func (c *Command) weigh(file string, f weighFlags) (*scale, error) {
	j, err := c.kept(f.run.store, true)
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

// question reads what trust is asked with: the gates as they are and were, the
// labels, what was measured before.
func (c *Command) question(ctx context.Context, s *scale, f weighFlags) (q trust.Question, err error) {
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
	kept, err := readEvidence(cascade.File, gates)
	if err != nil {
		return q, err
	}
	return trust.Question{
		CascadeID: cascade.ID, Gates: gates, Gate: f.gate, Labels: measure.NewLedger(labels), FalseAlarms: f.alarms,
		Past:  func(id string) ([]cascades.Gate, error) { return s.past(ctx, id) },
		Judge: s.rejudge(ctx, labelDir(cascade.File, f.labels)),
		Evidence: func(g cascades.Gate) (measure.Evidence, bool, bool) {
			return kept[g.Name].For(cascade.ID, g.Digest, g.Phase, string(g.Moment))
		},
	}, nil
}

// asked is what kept runs and labels say of the gates. Each attempt is shown to look
// too, unless that is nil.
func (c *Command) asked(ctx context.Context, s *scale, f weighFlags, look func(*journal.Attempt)) (*trust.Report, error) {
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

// report writes what was found, for people or as JSON.
func (c *Command) report(format string, found interface{ Text(io.Writer) error }) error {
	if format == "json" {
		return printJSON(c.Stdout, found)
	}
	return found.Text(c.Stdout)
}

// past are the gates of a run as they were when it began.
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

// attemptsOf gives the attempts of the cascade's runs, or of those that are named.
func attemptsOf(ctx context.Context, j *journal.Journal, cascade string, runs []string) (iter.Seq2[journal.Attempt, error], error) {
	wanted := map[string]bool{}
	for _, id := range runs {
		run, err := j.Run(ctx, id)
		if err != nil {
			return nil, found(err, id)
		}
		wanted[run.RunID] = true
	}
	all := j.Attempts(ctx, journal.Filter{Cascade: cascade})
	if len(runs) == 0 {
		return all, nil
	}
	return func(yield func(journal.Attempt, error) bool) {
		for a, err := range all {
			if (err != nil || wanted[a.RunID]) && !yield(a, err) {
				return
			}
		}
	}, nil
}
