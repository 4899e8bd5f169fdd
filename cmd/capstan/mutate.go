package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/measures/backtest"
	"github.com/seed61713e19/capstan/internal/measures/mutate"
	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner"
)

type mutateFlags struct {
	cases  string
	phase  string
	inputs []string
	input  string
	seed   uint64
	most   int
	judges bool
	exec   bool
	least  float64
	format string
	labels string
	run    runFlags
}

func (c *Command) mutate() *cobra.Command {
	f := mutateFlags{format: "text", seed: 1, most: faults.Most}
	cmd := &cobra.Command{
		Use:   "mutate FILE [TEXT]... | RUN...",
		Short: "Plant faults in good texts and count those caught",
		Long: `Plant one fault in each copy of a good text, and check each copy with every gate of the
phase. Good texts are the outputs of stored runs, of the tests in --tests, or the files
TEXT as outputs of the phase in --phase. Judges need --judges, and programs need
--run-programs. The same texts and --seed give the same report.`,
		Annotations: exitStatus("0 done, 1 fewer faults caught than --min, 2 usage or no good text, 3 an error"),
		Example: `  capstan measure mutate post.yaml
  capstan measure mutate post.yaml --tests cases --min 0.9
  capstan measure mutate post.yaml --phase draft --input topic=owls good.md
  capstan measure mutate last --format sarif > survivors.sarif`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.plantFaults(cmd.Context(), args, f) },
	}
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.cases, "tests", "", flagTexts["tests"])
	flags.StringVar(&f.phase, "phase", "", flagTexts["phase"])
	flags.StringArrayVar(&f.inputs, "input", nil, flagTexts["input"])
	flags.StringVar(&f.input, "input-file", "", flagTexts["input-file"])
	flags.Uint64Var(&f.seed, "seed", f.seed, "seed of the random choices")
	flags.IntVar(&f.most, "most", f.most, "maximum number of faults of one kind in one text")
	flags.BoolVar(&f.judges, "judges", false, flagTexts["judges"])
	flags.BoolVar(&f.exec, "run-programs", false, flagTexts["run-programs"])
	flags.Var((*modelflag.Models)(&f.run.model), "model", flagTexts["model"])
	flags.Float64Var(&f.least, "min", 0, "least share of certain faults that must be caught, from 0 to 1")
	flags.StringVar(&f.labels, "save-labels", "", "folder for the planted faults of FILE as labels")
	choose(cmd, &f.format, "format", "output format", "text", "json", "junit", "sarif")
	jsonFlag(cmd, &f.format)
	return cmd
}

func (c *Command) plantFaults(ctx context.Context, args []string, f mutateFlags) error {
	switch {
	case !(f.least >= 0 && f.least <= 1):
		return usage("--min must be from 0 to 1, not %v", f.least)
	case f.most < 1:
		return usage("--most must be at least 1, not %d", f.most)
	}
	s := c.quietly(nil, f.run)
	defer s.close()
	file := isFile(args[0])
	if f.labels != "" && !file {
		return usage("--save-labels is for the gates of a FILE as they are")
	}
	chosen := s.models.chosen(f.run.model, args[0])
	r, err := s.runner(c, f.run, chosen)
	if err != nil {
		return err
	}
	g := goodTexts{Command: c, mutateFlags: f, runner: r, chosen: chosen}
	if file {
		err = g.ofCascade(ctx, args[0], args[1:])
	} else {
		err = g.ofRuns(ctx, args)
	}
	if err != nil {
		return err
	}
	if err := g.known(); err != nil {
		return err
	}
	t := mutate.Test{
		Texts: g.texts, Host: r.Host(ctx), Phase: f.phase, Seed: f.seed, Most: f.most,
		Judges: f.judges, Exec: f.exec, Parallel: runtime.GOMAXPROCS(0), Progress: c.planting(),
	}
	if f.judges {
		if err := s.models.ready(g.cascade, chosen); err != nil {
			return err
		}
		fmt.Fprintf(c.Stderr, "judges may be asked up to %d times\n", t.Calls())
	}
	var planted plantedLabels
	if f.labels != "" {
		if planted, err = newPlanted(g.cascade, chosen); err != nil {
			return &exit{exitBroken, err}
		}
		t.Identity, t.Label = planted.identity, planted.take
	}
	report, err := t.Run(ctx)
	if err == nil && f.labels != "" {
		err = writeBeside(filepath.Join(f.labels, fileName("planted-"+planted.cascade)+".jsonl"), planted.lines.Bytes()) // replaces earlier ones
	}
	if err != nil {
		return stopped(ctx, err)
	}
	report.CascadeID = cmp.Or(report.CascadeID, g.cascade.ID)
	return c.printMutants(report, args[0], f)
}

// planting returns a function that prints the progress after a few seconds.
func (c *Command) planting() func(done, of int) {
	const often = 2 * time.Second
	last, living := time.Now(), c.terminal(c.Stderr)
	return func(done, of int) {
		switch now := time.Now(); {
		case now.Sub(last) < often && !(living && last.IsZero()):
		case living:
			fmt.Fprintf(unescaped(c.Stderr), "\rplanted %d %%", 100*done/of)
			last = now
			if done == of {
				fmt.Fprintln(c.Stderr)
			}
		default:
			fmt.Fprintf(c.Stderr, "planted %d %%\n", 100*done/of)
			last = now
		}
	}
}

// goodTexts finds the texts that get faults.
type goodTexts struct {
	*Command
	mutateFlags
	runner  *runner.Runner
	chosen  string
	cascade *cascades.Cascade
	texts   []backtest.Text
}

// ofCascade adds the texts of a cascade file: files, test cases, or stored runs.
func (g *goodTexts) ofCascade(ctx context.Context, file string, texts []string) (err error) {
	if g.cascade, err = g.runner.Load(file); err != nil {
		return err
	}
	switch {
	case len(texts) > 0 && g.cases != "":
		return usage("--tests has the texts: name no files beside it")
	case len(texts) > 0:
		return g.ofFiles(texts)
	case g.cases != "":
		return g.ofCases(ctx)
	}
	j, err := g.openStored(g.mutateFlags.run.store, true)
	if err != nil {
		return err
	}
	defer j.Close()
	source, err := past(ctx, j, g.cascade, nil)
	if err != nil {
		return err
	}
	return g.of(ctx, source, fmt.Sprintf("no kept run of cascade %s has released a text: run it, or name --tests or files", g.cascade.ID))
}

func (g *goodTexts) ofCases(ctx context.Context) error {
	dirs, err := testcases.Find(g.cases)
	if err != nil {
		return usage("%w; capstan test record RUN --name NAME makes one", err)
	}
	replays, err := testcases.Replays(ctx, dirs, g.runner.Known())
	if err != nil {
		return usage("%w", err)
	}
	return g.of(ctx, replays, fmt.Sprintf("no case in %s has released a text of cascade %s", g.cases, g.cascade.ID))
}

// ofRuns adds the texts of stored runs of one cascade, with the files of the first run.
func (g *goodTexts) ofRuns(ctx context.Context, words []string) error {
	if g.cases != "" {
		return usage("--tests goes with a cascade file, not with runs")
	}
	j, err := g.openStored(g.mutateFlags.run.store, true)
	if err != nil {
		return err
	}
	defer j.Close()
	for _, word := range words {
		run, err := j.Run(ctx, word)
		if err != nil {
			return found(err, word)
		}
		if g.cascade == nil {
			if g.cascade, err = g.runner.Unpack(run.Start.Files); err != nil {
				return err
			}
		} else if run.CascadeID != g.cascade.ID {
			return usage("%s is a run of cascade %s, not of %s", word, run.CascadeID, g.cascade.ID)
		}
	}
	source, err := past(ctx, j, g.cascade, words)
	if err != nil {
		return err
	}
	return g.of(ctx, source, "no phase of these runs has released a text")
}

func (g *goodTexts) of(ctx context.Context, source backtest.Source, none string) (err error) {
	t := backtest.Test{Cascade: g.cascade, Host: g.runner.Host(ctx), Source: source, Model: g.chosen, Parallel: runtime.GOMAXPROCS(0)}
	if g.texts, err = t.Texts(ctx); err != nil {
		return &exit{exitBroken, err}
	}
	if len(g.texts) == 0 {
		return usage("%s", none)
	}
	return nil
}

// ofFiles adds files as outputs of one phase.
func (g *goodTexts) ofFiles(files []string) error {
	if g.phase == "" {
		return usage("of which phase are the texts? name one, --phase NAME")
	}
	input, err := g.Command.inputs(g.input, g.mutateFlags.inputs)
	if err != nil {
		return err
	}
	if err := g.known(); err != nil {
		return err
	}
	for _, p := range g.cascade.EveryPhase() {
		for _, file := range files {
			if p.Name != g.phase {
				continue
			}
			text, err := g.files().Text(file)
			if err != nil {
				return usage("%w", err)
			}
			g.texts = append(g.texts, backtest.NewText(g.cascade, p, filepath.ToSlash(file), text, input, nil))
		}
	}
	return nil
}

// known returns an error if no cascade of the texts has the phase.
func (g *goodTexts) known() error {
	within := slices.ContainsFunc(g.texts, func(t backtest.Text) bool { return t.Phase.Name == g.phase })
	if g.phase != "" && !within && !g.cascade.Has(g.phase) {
		return usage("cascade %s has no phase %q", g.cascade.ID, g.phase)
	}
	return nil
}

// printMutants prints the result and returns the exit status.
func (c *Command) printMutants(r *mutate.Result, file string, f mutateFlags) error {
	exists := func(name string) bool { _, err := os.Stat(name); return err == nil }
	if err := c.printReport(r.Report(file, exists, f.least), f.format); err != nil {
		return err
	}
	unmet := r.Unmet()
	for _, p := range unmet {
		fmt.Fprintf(c.Stderr, "phase %s: %s caught; the file asks for %v\n", p.Phase, p.Always, p.Expect)
	}
	switch {
	case f.least > 0 && r.Below(f.least):
		return &exit{exitNo, fmt.Errorf("%s caught, fewer than --min %v", r.Always, f.least)}
	case len(unmet) > 0:
		return &exit{status: exitNo}
	}
	return nil
}
