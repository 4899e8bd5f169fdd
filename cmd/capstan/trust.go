package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/validators"
)

func (c *Command) stats() *cobra.Command {
	f := statsFlags{alarms: stats.FalseAlarms, format: "text"}
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.printStats(cmd.Context(), args[0], f) },
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

func (c *Command) printStats(ctx context.Context, file string, f statsFlags) error {
	if f.alarms < 1 {
		return usage("--false-alarms counts verdicts, from 1")
	}
	s, err := c.openStats(file, f)
	if err != nil {
		return err
	}
	defer s.close()
	measured, err := measuredCascades(s.cascade, f.gate)
	if err != nil {
		return err
	}
	var list []*reports.Report
	drifted := false
	for _, s.cascade = range measured {
		result, err := c.measured(ctx, s, file, f)
		if err != nil {
			return err
		}
		list, drifted = append(list, result.Report(file, f.all)), drifted || result.Drifted()
	}
	if err := c.printReport(reports.Join(list), f.format); err != nil {
		return err
	}
	if f.check && drifted {
		return &exit{status: exitNo}
	}
	return nil
}

// measuredCascades returns the cascades of a file that have a gate: its own phases, and
// the checks of each hook. An empty name is every gate.
func measuredCascades(c *cascades.Cascade, gate string) (list []*cascades.Cascade, err error) {
	all := []*cascades.Cascade{c}
	if len(c.Phases) == 0 && len(c.Hooks) > 0 {
		all = nil
	}
	for _, h := range c.Hooks {
		all = append(all, h.Cascade)
	}
	for _, one := range all {
		gates, err := one.Gates("", nil)
		if err != nil {
			return nil, &exit{exitBroken, err}
		}
		if gate == "" || slices.ContainsFunc(gates, func(g cascades.Gate) bool { return g.Name == gate }) {
			list = append(list, one)
		}
	}
	if len(list) == 0 {
		return nil, usage("%s has no gate %q", c.File, gate)
	}
	return list, nil
}

// measured measures the gates of one cascade, and writes their evidence if f.write is set.
func (c *Command) measured(ctx context.Context, s *scale, file string, f statsFlags) (*trust.Result, error) {
	report, err := c.asked(ctx, s, f, nil)
	if err != nil {
		return nil, err
	}
	if f.judges {
		if err := s.models.ready(s.cascade, s.chosen); err != nil {
			return nil, err
		}
		if err := c.judgeEmptyTexts(ctx, s, report); err != nil {
			return nil, err
		}
	}
	if f.write {
		since, err := c.sinceAlarms(ctx, s, f, report)
		if err != nil {
			return nil, err
		}
		if err := c.writeEvidence(file, since); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// sinceAlarms returns the result without the verdicts before alarms, if gates have drifted.
func (c *Command) sinceAlarms(ctx context.Context, s *scale, f statsFlags, report *trust.Result) (*trust.Result, error) {
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
		g.EmptyTexts = report.Gates[i].EmptyTexts
	}
	return anew, nil
}

// judgeEmptyTexts runs the judges on texts without content.
func (c *Command) judgeEmptyTexts(ctx context.Context, s *scale, report *trust.Result) error {
	var judges []*trust.Gate
	calls := 0
	for _, g := range report.Gates {
		if v := g.Validator(); v != nil && !v.Free() {
			judges = append(judges, g)
			calls += len(stats.EmptyTexts()) * max(v.Votes, 1)
		}
	}
	fmt.Fprintf(c.Stderr, "note: running %d judges on %d texts without content: at least %d model calls\n", len(judges), len(stats.EmptyTexts()), calls)
	for _, g := range judges {
		h := &stats.EmptyTextResult{Passed: []string{}}
		for _, text := range stats.EmptyTexts() {
			verdict, err := s.runner.Judge(ctx, s.cascade, g.Validator(), validators.Subject{Content: text})
			switch {
			case ctx.Err() != nil:
				return &exit{exitInterrupted, context.Cause(ctx)}
			case err != nil:
				fmt.Fprintf(c.Stderr, "note: %s gave no verdict on %q: %s\n", g.Gate, text, oneLine(err.Error()))
				h.NoVerdict++
				continue
			case verdict.Valid:
				h.Passed = append(h.Passed, text)
			}
			h.Judged++
		}
		g.EmptyTexts = h
	}
	return nil
}

// readEvidence returns the evidence files of gates by name.
func readEvidence(file string, gates []cascades.Gate) (map[string]stats.EvidenceFile, error) {
	evidence := map[string]stats.EvidenceFile{}
	for _, g := range gates {
		var err error
		if evidence[g.Name], err = evidenceOf(file, g.Name); err != nil {
			return nil, err
		}
	}
	return evidence, nil
}

// evidenceOf returns the evidence file of a gate, which is empty if there is no file.
func evidenceOf(file, gate string) (f stats.EvidenceFile, err error) {
	name := evidenceFile(file, gate)
	text, err := runner.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		f, err = stats.ParseEvidence(text)
	}
	if err != nil {
		return f, usage("%s: %w", name, err)
	}
	return f, nil
}

func evidenceFile(file, gate string) string {
	return filepath.Join(filepath.Dir(file), stats.EvidenceDir, stats.EvidenceName(gate))
}

// writeEvidence writes the evidence of the gates with verdicts or labels.
func (c *Command) writeEvidence(file string, report *trust.Result) error {
	made := map[string]stats.EvidenceFile{}
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
