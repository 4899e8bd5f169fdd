package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/trust"
	"github.com/seed61713e19/capstan/validators"
)

type trustFlags struct {
	gate   string
	runs   []string
	labels string
	asJSON bool
	write  bool
	check  bool
	judges bool
	alarms int
	run    runFlags
}

// shared adds the flags that trust and cost have in common.
func (f *trustFlags) shared(cmd *cobra.Command) {
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.runs, "runs", nil, "these runs alone (default: all of the cascade)")
	flags.StringVar(&f.labels, "labels", "", "the folder of labels (default: labels beside FILE)")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	flags.Var((*modelFlag)(&f.run.model), "model", modelUsage)
}

func (c *Command) trust() *cobra.Command {
	f := trustFlags{alarms: measure.FalseAlarms}
	cmd := &cobra.Command{
		Use:   "trust FILE",
		Short: "Tell how strong the gates of a cascade are, of kept runs and labels",
		Long: `Tell how strong the gates of a cascade are: how many bad texts each lets by, how
many good ones it refuses, with exact 95 % intervals, on texts that people
labelled and on planted faults apart; what of the released texts is bad however
often one tries; whether a gate's rate has drifted. Only verdicts of a gate that
is now exactly what it was then count.

Nothing of it asks a model but --judges, which asks every judge about texts that
say nothing; how many calls that may take is told first.

Exit status: 0; 1 with --check where a gate has drifted; 2 usage; 3 something
broke.`,
		Example: `  capstan trust post.yaml
  capstan trust post.yaml --write
  capstan trust post.yaml --check --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.trusted(cmd.Context(), args[0], f) },
	}
	f.shared(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.gate, "gate", "", "the gates of this name alone")
	flags.BoolVar(&f.write, "write", false, "write what was measured to evidence beside FILE")
	flags.BoolVar(&f.check, "check", false, "exit 1 where a gate has drifted")
	flags.BoolVar(&f.judges, "judges", false, "ask judges about texts that say nothing, which costs model calls")
	flags.IntVar(&f.alarms, "false-alarms", f.alarms, "one false alarm of drift in so many verdicts on average, at the most")
	return cmd
}

func (c *Command) trusted(ctx context.Context, file string, f trustFlags) error {
	if f.alarms < 1 {
		return usage("--false-alarms counts verdicts, from 1")
	}
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
	report, err := q.Ask(attempts)
	if err != nil {
		return &exit{exitBroken, err}
	}
	if f.judges {
		if err := s.models.ready(s.cascade, s.chosen); err != nil {
			return err
		}
		if err := c.hollow(ctx, s, report); err != nil {
			return err
		}
	}
	if f.write {
		if err := c.writeEvidence(file, report); err != nil {
			return err
		}
	}
	if f.asJSON {
		err = printJSON(c.Stdout, report)
	} else {
		err = report.Text(c.Stdout)
	}
	switch {
	case err != nil:
		return &exit{exitBroken, err}
	case f.check && report.Drifted():
		return &exit{status: exitNo}
	}
	return nil
}

// A scale is what kept runs are weighed with: the kit, and the cascade as it is.
type scale struct {
	*kit
	runner  *runner.Runner
	cascade *cascades.Cascade
	chosen  string
}

// weigh opens what a look at kept runs needs.
func (c *Command) weigh(file string, f trustFlags) (*scale, error) {
	j, err := c.kept(f.run.store, true)
	if err != nil {
		return nil, err
	}
	s := &scale{kit: &kit{servers: &remote{}, models: newModels(c.Getenv, false, j), progress: c.progress(true)}}
	s.closers = append(s.closers, func() { j.Close() }, func() { s.servers.client.Close() })
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
func (c *Command) question(ctx context.Context, s *scale, f trustFlags) (q trust.Question, err error) {
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
			return kept[g.Name].For(g.Digest, g.Phase, string(g.Moment))
		},
	}, nil
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

// hollow asks the judges about texts that say nothing.
func (c *Command) hollow(ctx context.Context, s *scale, report *trust.Report) error {
	var judges []*trust.Gate
	calls := 0
	for _, g := range report.Gates {
		if v := g.Validator(); v != nil && !v.Free() {
			judges = append(judges, g)
			calls += len(measure.HollowTexts()) * max(v.Votes, 1)
		}
	}
	fmt.Fprintf(c.Stderr, "note: asking %d judges about %d texts that say nothing: %d model calls or more\n", len(judges), len(measure.HollowTexts()), calls)
	for _, g := range judges {
		h := &measure.Hollow{Passed: []string{}}
		for _, text := range measure.HollowTexts() {
			verdict, err := s.runner.Judge(ctx, s.cascade, g.Validator(), validators.Subject{Content: text})
			switch {
			case ctx.Err() != nil:
				return &exit{exitInterrupted, context.Cause(ctx)}
			case err != nil:
				fmt.Fprintf(c.Stderr, "note: %s could not say of %q: %s\n", g.Gate, text, oneLine(err.Error()))
				h.Broke++
				continue
			case verdict.Valid:
				h.Passed = append(h.Passed, text)
			}
			h.Asked++
		}
		g.Hollow = h
	}
	return nil
}

// readEvidence reads what was measured of gates before, by their names.
func readEvidence(file string, gates []cascades.Gate) (map[string]measure.EvidenceFile, error) {
	kept := map[string]measure.EvidenceFile{}
	for _, g := range gates {
		name := evidenceFile(file, g.Name)
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			kept[g.Name], err = measure.ParseEvidence(text)
		}
		if err != nil {
			return nil, usage("%s: %w", name, err)
		}
	}
	return kept, nil
}

func evidenceFile(file, gate string) string {
	return filepath.Join(filepath.Dir(file), measure.EvidenceDir, measure.EvidenceName(gate))
}

// writeEvidence keeps what was measured of the gates that have said anything.
func (c *Command) writeEvidence(file string, report *trust.Report) error {
	made := map[string]measure.EvidenceFile{}
	for _, g := range report.Gates {
		f, begun := made[g.Gate]
		if !begun {
			text, err := os.ReadFile(evidenceFile(file, g.Gate))
			if err == nil {
				f, err = measure.ParseEvidence(text)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return usage("%s: %w", evidenceFile(file, g.Gate), err)
			}
			f.Gate = g.Gate
			f = f.Without(report.CascadeID)
		}
		e := g.Measured(report.CascadeID, versionName())
		known, there, _ := f.For(g.Digest, g.Phase, g.Moment)
		if g.Measurable() && !(there && known.Cascade == e.Cascade && known.Outweighs(e)) {
			f = f.With(e)
		}
		made[g.Gate] = f
	}
	for gate, f := range made {
		if len(f.Evidence) == 0 {
			continue
		}
		text, err := f.Text()
		if err == nil {
			err = writeBeside(evidenceFile(file, gate), text)
		}
		if err != nil {
			return &exit{exitBroken, err}
		}
		fmt.Fprintln(c.Stderr, "wrote", evidenceFile(file, gate))
	}
	return nil
}

// writeBeside writes a file whole or not at all, with its folder.
func writeBeside(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name()) // where it is not renamed
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Chmod(0o644), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), name)
}
