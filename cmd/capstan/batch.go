package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// batchFlags are the common flags of run --each and eval.
type batchFlags struct {
	set      string
	out      string
	name     string
	baseline string
	times    int
	parallel int
	budget   []string
	answers  []string
}

func (f *batchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", flagTexts["out"])
	flags.IntVar(&f.parallel, "parallel", 4, flagTexts["parallel"])
	flags.StringArrayVar(&f.budget, "budget", nil, "limit for the start of new rows: max_cost_usd=5, max_calls=N, max_tokens=N or max_seconds=N; a number alone is dollars")
	flags.StringVar(&f.name, "batch", "", "name of the batch, if the same cascade, model and dataset have several")
}

func (c *Command) eval() *cobra.Command {
	var f runFlags
	b := batchFlags{times: 1}
	cmd := &cobra.Command{
		Use:   "eval FILE --each DATASET",
		Short: "Run a cascade on a dataset and measure its results",
		Long: `Run a cascade for every row of a JSON Lines or CSV file. The report contains the share
of accepted rows, their cost, and, if rows contain expected values, their accuracy, with
95 % intervals by row. The same command continues an interrupted batch without repeating
finished rows. --baseline compares the rows with those of an earlier batch.`,
		Example: `  capstan eval post.yaml --each topics.jsonl --times 3
  capstan eval post.yaml --each topics.csv --model gpt-5-nano --baseline b81f0c2d9a34`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.set == "" {
				return usage("eval needs --each DATASET")
			}
			return c.runBatch(cmd.Context(), args[0], f, b, true)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&b.set, "each", "", flagTexts["each"])
	flags.IntVar(&b.times, "times", b.times, "number of runs of each row")
	flags.StringVar(&b.baseline, "baseline", "", "name of an earlier batch to compare with, row by row")
	flags.StringArrayVar(&f.inputs, "input", nil, flagTexts["input"])
	flags.StringArrayVar(&b.answers, "answer", nil, "answer to the questions of a phase: phase=value")
	f.how(cmd)
	b.add(cmd)
	f.shared(cmd)
	return cmd
}

// runBatch runs a cascade on every row of a dataset. With report it prints the result, and
// otherwise the outcomes, unless --out names a file for them.
func (c *Command) runBatch(ctx context.Context, file string, f runFlags, b batchFlags, report bool) error {
	bounds, err := b.bounds()
	if err != nil {
		return err
	}
	quiet := f.quiet
	f.quiet = true // a batch has its own progress
	s, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	defer s.close()
	s.sinks = s.sinks[1:] // the progress of a single run
	if s.journal == nil {
		return usage("a batch needs the runs that --store keeps: with them it goes on where it was broken off")
	}
	people, err := phaseAnswers(b.answers)
	if err != nil {
		return err
	}
	chosen := s.models.chosen(f.model, file)
	r, err := s.runner(c, f, chosen, runner.WithAsk(people.ask))
	if err != nil {
		return err
	}
	cascade, err := c.loaded(r, file, f)
	if err != nil {
		return err
	}
	if err := people.check(cascade); err != nil {
		return err
	}
	if err := c.spares(f, b.out, chosen, cascade.Files); err != nil {
		return err
	}
	if err := sparing("--events", f.events, b.set); err != nil {
		return err
	}
	if err := s.models.ready(cascade, chosen); err != nil {
		return err
	}
	if name := cascade.RunsCommands(); !f.allowExec && name != "" {
		return usage("%s uses %s, which needs --allow-exec", cascade.File, name)
	}
	input, err := c.inputs("", f.inputs)
	if err != nil {
		return err
	}
	set, err := batch.Open(b.set)
	if err != nil {
		return usage("%w", err)
	}
	do := &batch.Batch{
		Cascade: cascade, Dataset: set, Model: chosen, Name: b.name, Input: input, Times: b.times, Parallel: b.parallel,
		Budget: bounds, Settings: f.settings(), People: people,
		NewModel: func() model.Model { return s.models.Rewound() }, Duration: func(id string) time.Duration { return howLong(ctx, s.journal, id) },
	}
	do.Settings["batch"] = do.ID()
	return c.doBatch(ctx, s, do, r, b, batchOutput{report: report, json: f.json, quiet: quiet})
}

// A batchOutput is what a batch prints.
type batchOutput struct{ report, json, quiet bool }

func (b batchOutput) format() string {
	if b.json {
		return "json"
	}
	return "text"
}

func (c *Command) doBatch(ctx context.Context, s *kit, do *batch.Batch, r *runner.Runner, b batchFlags, how batchOutput) error {
	out, err := c.results(do.Dataset.File, b.out, !how.report && !how.json)
	if err != nil {
		return err
	}
	p := c.batchProgress(how.quiet, do)
	s.progress = p.progress // it shows waiting calls
	do.Progress, do.Result = p.add, out.add
	var against *batch.Baseline
	if b.baseline != "" {
		against = baseline(s.journal, b.baseline)
	}
	report, err := do.Evaluate(ctx, r, against)
	p.close(report)
	err = errors.Join(err, out.close())
	switch {
	case errors.Is(err, runner.ErrNoRun): // nothing ran
	case how.json || how.report:
		if e := c.printReport(report.Report(), how.format()); e != nil {
			return e
		}
	}
	return c.batchEnds(ctx, report, err)
}

// batchEnds returns the exit status of a batch.
func (c *Command) batchEnds(ctx context.Context, report batch.Result, err error) error {
	const onward = "the same command continues with the remaining rows"
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, fmt.Errorf("interrupted after %d runs; %s", report.Runs, onward)}
	case errors.Is(err, batch.ErrBudget):
		return &exit{exitBudget, fmt.Errorf("%w after %d runs; after raising it, %s", err, report.Runs, onward)}
	case errors.Is(err, runner.ErrNoRun):
		return usage("%w; a report contains the name of its batch", err)
	case err != nil:
		return &exit{exitBroken, err}
	case report.Runs > report.Accepted.K+report.Degraded.K:
		return &exit{exitNo, fmt.Errorf("%d of %d runs have no output", report.Runs-report.Accepted.K-report.Degraded.K, report.Runs)}
	}
	return nil
}

// howLong returns the duration of a finished run, or 0 if it is unknown.
func howLong(ctx context.Context, j *journal.Journal, id string) time.Duration {
	run, err := j.Run(ctx, id)
	if err != nil || run.Finished == nil {
		return 0
	}
	return run.Finished.Sub(run.Started)
}

func baseline(j *journal.Journal, name string) *batch.Baseline {
	return &batch.Baseline{Batch: name, Find: func(ctx context.Context, id string) (engine.Result, map[string]any, error) {
		run, err := j.Run(ctx, id)
		if err != nil {
			return engine.Result{}, nil, err
		}
		r, err := j.Result(ctx, run.RunID)
		return r, run.Start.Input, err
	}}
}

// bounds parses --budget.
func (b *batchFlags) bounds() (bounds batch.Budget, err error) {
	for _, value := range b.budget {
		for one := range strings.SplitSeq(value, ",") {
			name, value, named := strings.Cut(strings.TrimSpace(one), "=")
			if !named {
				name, value = "max_cost_usd", strings.TrimPrefix(name, "$")
			}
			n, err := strconv.ParseFloat(value, 64)
			if err != nil || !(n > 0 && n <= 1e12) || strings.HasSuffix(name, "s") && name != "max_seconds" && n != math.Trunc(n) {
				return bounds, usage("--budget %s: want a number above 0, of calls and tokens a whole one", one)
			}
			switch name {
			case "max_calls":
				bounds.MaxCalls = int(n)
			case "max_tokens":
				bounds.MaxTokens = int(n)
			case "max_cost_usd":
				bounds.MaxCostUSD = n
			case "max_seconds":
				bounds.MaxTime = time.Duration(n * float64(time.Second))
			default:
				return bounds, usage("--budget %s: want max_calls, max_tokens, max_cost_usd or max_seconds", one)
			}
		}
	}
	if b.parallel < 1 || b.parallel > 1000 {
		return bounds, usage("--parallel must be from 1 to 1000, not %d", b.parallel)
	}
	if b.times < 1 || b.times > 1000 {
		return bounds, usage("--times must be from 1 to 1000, not %d", b.times)
	}
	return bounds, nil
}

// A resultFile writes outcomes, one per line.
type resultFile struct {
	f   *os.File  // nil for standard output
	out io.Writer // nil for no output
}

// results opens the file for outcomes. Without a file, it returns standard output if print is set.
func (c *Command) results(set, file string, print bool) (*resultFile, error) {
	if file == "" {
		if print {
			return &resultFile{out: c.Stdout}, nil
		}
		return &resultFile{}, nil
	}
	if areOne(file, set) {
		return nil, usage("--out %s is the set", file)
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, usage("--out: %w", err)
	}
	return &resultFile{f, redactions.Writer(f, c.hidden)}, nil
}

func (r *resultFile) add(o batch.Outcome) error {
	if r.out == nil {
		return nil
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(o); err != nil {
		return err
	}
	return writeJSON(r.out, line.Bytes())
}

func (r *resultFile) close() error {
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}
