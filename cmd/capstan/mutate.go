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
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/backtest"
	"github.com/seed61713e19/capstan/runner/cases"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/mutate"
	"github.com/seed61713e19/capstan/runner/sarif"
	"github.com/seed61713e19/capstan/validators/faults"
)

type mutateFlags struct {
	cases  string
	phases []string
	inputs []string
	input  string
	seed   uint64
	most   int
	limit  int
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
TEXT as outputs of the phase in --phases. Judges need --judges, and programs need
--run-programs. The same texts and --seed give the same report.`,
		Annotations: exitStatus("0 done, 1 fewer faults caught than --min, 2 usage or no good text, 3 an error"),
		Example: `  capstan measure mutate post.yaml
  capstan measure mutate post.yaml --tests cases --min 0.9
  capstan measure mutate post.yaml --phases draft --input topic=owls good.md
  capstan measure mutate last --format sarif > survivors.sarif`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.plantFaults(cmd.Context(), args, f) },
	}
	f.run.store.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.cases, "tests", "", flagTexts["tests"])
	flags.StringSliceVar(&f.phases, "phases", nil, "names of phases, separated by commas")
	flags.StringArrayVar(&f.inputs, "input", nil, flagTexts["input"])
	flags.StringVar(&f.input, "input-file", "", flagTexts["input-file"])
	flags.Uint64Var(&f.seed, "seed", f.seed, "seed of the random choices")
	flags.IntVar(&f.most, "most", f.most, "maximum number of faults of one kind in one text")
	countedFrom0(cmd, &f.limit, "limit", flagTexts["limit"])
	flags.BoolVar(&f.judges, "judges", false, flagTexts["judges"])
	flags.BoolVar(&f.exec, "run-programs", false, flagTexts["run-programs"])
	flags.Var((*given.Models)(&f.run.model), "model", flagTexts["model"])
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
	if err := g.known(f.phases); err != nil {
		return err
	}
	t := mutate.Test{
		Texts: g.texts, Host: r.Host(ctx), Phases: f.phases, Seed: f.seed, Most: f.most,
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
		err = writeBeside(filepath.Join(f.labels, fileName("planted-"+planted.cascade)+".jsonl"), planted.lines.Bytes()) // in place of those that were there
	}
	if err != nil {
		return stopped(ctx, err)
	}
	report.CascadeID = cmp.Or(report.CascadeID, g.cascade.ID)
	return c.tellMutants(report, args[0], f)
}

// planting tells how far it has come, on a terminal in one line, and elsewhere
// seldom: what is done in a moment needs no telling.
func (c *Command) planting() func(done, of int) {
	const often = 2 * time.Second
	said, living := time.Now(), c.terminal(c.Stderr)
	return func(done, of int) {
		switch now := time.Now(); {
		case now.Sub(said) < often && !(living && said.IsZero()):
		case living:
			fmt.Fprintf(unescaped(c.Stderr), "\rplanted %d %%", 100*done/of)
			said = now
			if done == of {
				fmt.Fprintln(c.Stderr)
			}
		default:
			fmt.Fprintf(c.Stderr, "planted %d %%\n", 100*done/of)
			said = now
		}
	}
}

// goodTexts finds the texts that faults are planted in.
type goodTexts struct {
	*Command
	mutateFlags
	runner  *runner.Runner
	chosen  string
	cascade *cascades.Cascade
	texts   []backtest.Text
}

// ofCascade takes the texts of a cascade file: files, frozen runs or kept ones.
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
	j, err := g.kept(g.mutateFlags.run.store, true)
	if err != nil {
		return err
	}
	defer j.Close()
	source, err := past(ctx, j, g.cascade, backtestFlags{limit: g.limit})
	if err != nil {
		return err
	}
	return g.of(ctx, source, fmt.Sprintf("no kept run of cascade %s has released a text: run it, or name --tests or files", g.cascade.ID))
}

func (g *goodTexts) ofCases(ctx context.Context) error {
	dirs, err := cases.Find(g.cases)
	if err != nil {
		return usage("%w; capstan test record RUN --name NAME makes one", err)
	}
	told, err := cases.Tell(ctx, dirs, g.runner.Known())
	if err != nil {
		return usage("%w", err)
	}
	return g.of(ctx, told, fmt.Sprintf("no case in %s has released a text of cascade %s", g.cases, g.cascade.ID))
}

// ofRuns takes the texts of kept runs, all of one cascade, as it was in the first.
func (g *goodTexts) ofRuns(ctx context.Context, words []string) error {
	if g.cases != "" {
		return usage("--tests goes with a cascade file, not with runs")
	}
	j, err := g.kept(g.mutateFlags.run.store, true)
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
	source, err := past(ctx, j, g.cascade, backtestFlags{runs: words})
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

// ofFiles takes files for what one phase has said.
func (g *goodTexts) ofFiles(files []string) error {
	if len(g.phases) != 1 {
		return usage("of which phase are the texts? name one, --phase NAME")
	}
	input, err := g.Command.inputs(g.input, g.mutateFlags.inputs)
	if err != nil {
		return err
	}
	if err := g.known(g.phases); err != nil {
		return err
	}
	for _, p := range g.cascade.EveryPhase() {
		for _, file := range files {
			if p.Name != g.phases[0] {
				continue
			}
			text, err := g.files().Text(file)
			if err != nil {
				return usage("%w", err)
			}
			g.texts = append(g.texts, backtest.Given(g.cascade, p, filepath.ToSlash(file), text, input, nil))
		}
	}
	return nil
}

// known reports a phase that the cascade does not have.
func (g *goodTexts) known(phases []string) error {
	for _, name := range phases {
		within := slices.ContainsFunc(g.texts, func(t backtest.Text) bool { return t.Phase.Name == name })
		if !within && !g.cascade.Has(name) {
			return usage("cascade %s has no phase %q", g.cascade.ID, name)
		}
	}
	return nil
}

// tellMutants writes the report and gives the exit status.
func (c *Command) tellMutants(r *mutate.Report, file string, f mutateFlags) (err error) {
	switch f.format {
	case "json":
		err = printJSON(c.Stdout, r)
	case "junit":
		err = r.JUnit(c.Stdout, f.least)
	case "sarif":
		s := newSARIF()
		for _, l := range r.Survivors {
			level := "note"
			if l.Sure == faults.Always {
				level = "warning"
			}
			where, line := file, 0 // of a run there is no file but the cascade's
			if _, err := os.Stat(l.Run); err == nil {
				where, line = l.Run, lineOf(l.Place)
			}
			s.Add(sarif.Finding{Rule: l.Operator, Level: level, Message: l.Phase + ": " + l.Note + " passes every gate", File: where, Line: line})
		}
		err = printJSON(c.Stdout, s)
	default:
		err = r.Text(c.Stdout)
	}
	unmet := r.Unmet()
	for _, p := range unmet {
		fmt.Fprintf(c.Stderr, "phase %s: %s caught; the file asks for %v\n", p.Phase, p.Always, p.Expect)
	}
	switch {
	case err != nil:
		return &exit{exitBroken, err}
	case f.least > 0 && r.Below(f.least):
		return &exit{exitNo, fmt.Errorf("%s caught, fewer than --min %v", r.Always, f.least)}
	case len(unmet) > 0:
		return &exit{status: exitNo}
	}
	return nil
}
