package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/sarif"
	"github.com/seed61713e19/capstan/runner/trust"
	"github.com/seed61713e19/capstan/validators"
)

func (c *Command) stats() *cobra.Command {
	f := weighFlags{alarms: measure.FalseAlarms, format: "text"}
	cmd := &cobra.Command{
		Use:   "stats FILE",
		Short: "Measure how reliable the gates of a cascade are",
		Long: `Report how many labelled texts each gate judged wrongly, how many bad texts were
released, and what to do next. A verdict counts only if its gate has not changed since.
The ranges hold with 95 % confidence, however often you look. Only --judges calls models,
after printing the number of calls.`,
		Annotations: exitStatus("0 done, 1 with --check if a gate has drifted, 2 usage, 3 an error"),
		Example: `  capstan measure stats post.yaml
  capstan measure stats post.yaml --write
  capstan measure stats post.yaml --check --format junit`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.trusted(cmd.Context(), args[0], f) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	choose(cmd, &f.format, "format", "output format", "text", "json", "junit", "sarif")
	flags.StringVar(&f.gate, "gate", "", flagTexts["gate"])
	flags.BoolVar(&f.write, "write", false, "evidence files next to FILE")
	flags.BoolVar(&f.all, "all", false, "everything that is known of each gate")
	flags.BoolVar(&f.check, "check", false, "exit status 1 if a gate has drifted")
	flags.BoolVar(&f.judges, "judges", false, flagTexts["judges"])
	flags.IntVar(&f.alarms, "false-alarms", f.alarms, "average number of verdicts per false alarm of drift")
	return cmd
}

func (c *Command) trusted(ctx context.Context, file string, f weighFlags) error {
	if f.alarms < 1 {
		return usage("--false-alarms counts verdicts, from 1")
	}
	s, err := c.weigh(file, f)
	if err != nil {
		return err
	}
	defer s.close()
	report, err := c.asked(ctx, s, f, nil)
	if err != nil {
		return err
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
		measured, err := c.sinceAlarms(ctx, s, f, report)
		if err != nil {
			return err
		}
		if err := c.writeEvidence(file, measured); err != nil {
			return err
		}
	}
	switch f.format {
	case "text":
		if f.all {
			err = report.All(c.Stdout)
			break
		}
		err = report.Text(c.Stdout)
	case "junit":
		err = report.JUnit(c.Stdout)
	case "sarif":
		found := newSARIF()
		for _, one := range report.Findings() {
			found.Add(sarif.Finding{Rule: one.Rule, Level: one.Level, Message: one.Message, File: cmp.Or(one.Where.File, file), Line: one.Where.Line, Column: one.Where.Column})
		}
		err = printJSON(c.Stdout, found)
	default:
		err = c.report(f.format, report)
	}
	switch {
	case err != nil:
		return &exit{exitBroken, err}
	case f.check && report.Drifted():
		return &exit{status: exitNo}
	}
	return nil
}

// sinceAlarms returns the report as it is if the gates that have drifted are measured
// from their alarms on.
func (c *Command) sinceAlarms(ctx context.Context, s *scale, f weighFlags, report *trust.Report) (*trust.Report, error) {
	if !report.Drifted() {
		return report, nil
	}
	q, err := c.question(ctx, s, f)
	if err != nil {
		return nil, err
	}
	attempts, err := attemptsOf(ctx, s.models.journal, s.cascade.ID, f.runs)
	if err != nil {
		return nil, err
	}
	anew, err := q.Since(report).Ask(attempts)
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	for i, g := range anew.Gates {
		g.Hollow = report.Gates[i].Hollow
	}
	return anew, nil
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
	fmt.Fprintf(c.Stderr, "note: running %d judges on %d texts without content: at least %d model calls\n", len(judges), len(measure.HollowTexts()), calls)
	for _, g := range judges {
		h := &measure.Hollow{Passed: []string{}}
		for _, text := range measure.HollowTexts() {
			verdict, err := s.runner.Judge(ctx, s.cascade, g.Validator(), validators.Subject{Content: text})
			switch {
			case ctx.Err() != nil:
				return &exit{exitInterrupted, context.Cause(ctx)}
			case err != nil:
				fmt.Fprintf(c.Stderr, "note: %s gave no verdict on %q: %s\n", g.Gate, text, oneLine(err.Error()))
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
		var err error
		if kept[g.Name], err = evidenceOf(file, g.Name); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// evidenceOf is what was measured of a gate; nothing where no file says so.
func evidenceOf(file, gate string) (f measure.EvidenceFile, err error) {
	name := evidenceFile(file, gate)
	text, err := runner.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		f, err = measure.ParseEvidence(text)
	}
	if err != nil {
		return f, usage("%s: %w", name, err)
	}
	return f, nil
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
			var err error
			if f, err = evidenceOf(file, g.Gate); err != nil {
				return err
			}
			f.Gate = g.Gate
			f = f.Without(report.CascadeID)
		}
		e := g.Measured(report.CascadeID, versionName())
		known, there, _ := f.For(report.CascadeID, g.Digest, g.Phase, g.Moment)
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
