package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/endings"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/redactions"
	"github.com/seed61713e19/capstan/validators/schema"
)

// runFlags are what run takes besides the file.
type runFlags struct {
	inputs    []string
	inputFile string
	model     string
	runID     string
	events    string
	hosts     []string
	allowExec bool
	names     nameFlags
	json      bool
	strict    bool
	quiet     bool
	store     storeFlags
	receipt   string
	proof     receiptFlags
}

// shared adds the flags that run and resume have in common.
func (f *runFlags) shared(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.events, "events", "", "JSON Lines file for the events")
	flags.BoolVar(&f.json, "json", false, flagTexts["json"])
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress output")
	f.store.add(cmd)
	f.store.addDurable(cmd)
}

// how adds the flags that say how runs that begin are made.
func (f *runFlags) how(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*given.Models)(&f.model), "model", flagTexts["model"])
	flags.BoolVar(&f.strict, "strict", false, flagTexts["strict"])
	flags.StringArrayVar(&f.hosts, "allow-host", nil, flagTexts["allow-host"])
	f.names.add(cmd)
	flags.BoolVar(&f.allowExec, "allow-exec", false, flagTexts["allow-exec"])
}

func (c *Command) run() *cobra.Command {
	var f runFlags
	b := batchFlags{times: 1}
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade",
		Long: `Run a cascade and print the output of its last phase; progress goes to standard error.
--model scripted takes the replies from NAME.scripted.yaml next to NAME.yaml and needs
no key. --each runs the cascade for every row of a dataset, and the same command
continues an interrupted batch. Capstan stores each run, so that you can resume it.`,
		Example: `  capstan run post.yaml --input topic=owls
  capstan run review.yaml --input document=@report.md --model scripted
  capstan run post.yaml --input-file input.json --json --events run.jsonl
  capstan run post.yaml --each topics.csv --out results.jsonl --parallel 8`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if b.set == "" {
				for _, name := range []string{"out", "parallel", "budget", "batch"} {
					if cmd.Flags().Changed(name) {
						return usage("--%s goes with --each", name)
					}
				}
				return c.runCascade(cmd.Context(), args[0], f)
			}
			if f.runID != "" || f.inputFile != "" {
				return usage("--run-id and --input-file are of one run, and --each makes many")
			}
			if f.receipt != "" {
				return usage("--receipt is of one run: capstan receipt sign RUN makes one of each that --each has kept")
			}
			return c.runBatch(cmd.Context(), args[0], f, b, false)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.inputs, "input", nil, flagTexts["input"])
	flags.StringVar(&f.inputFile, "input-file", "", flagTexts["input-file"])
	flags.StringVar(&f.runID, "run-id", "", flagTexts["run-id"])
	flags.StringVar(&b.set, "each", "", "dataset whose rows are the inputs of runs: JSON Lines or CSV")
	f.how(cmd)
	b.add(cmd)
	flags.StringVar(&f.receipt, "receipt", "", "file for a signed receipt; the output is printed byte for byte")
	f.proof.add(cmd)
	f.shared(cmd)
	return cmd
}

func (c *Command) runCascade(ctx context.Context, file string, f runFlags) error {
	if err := isRunID(f.runID); err != nil {
		return err
	}
	maker, err := c.receiptMaker(ctx, f.receipt, f.proof)
	if err != nil {
		return err
	}
	s, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	defer s.close()
	if maker != nil {
		s.sinks = append(s.sinks, maker)
	}
	chosen := s.models.chosen(f.model, file)
	r, err := s.runner(c, f, chosen)
	if err != nil {
		return err
	}
	cascade, err := c.loaded(r, file, f)
	if err != nil {
		return err
	}
	input, err := c.inputs(f.inputFile, f.inputs)
	if err != nil {
		return err
	}
	if err := c.spares(f, "", chosen, cascade.Files); err != nil {
		return err
	}
	if err := c.ready(ctx, cascade, input, s.models, f, chosen); err != nil {
		c.noteTexts(cascade, input, err)
		return err
	}
	options := []runner.RunOption{runner.WithRunID(f.runID), runner.WithSettings(f.settings())}
	if maker != nil {
		maker.cascade = cascade
		options = append(options, runner.WithGates(func(gates []cascades.Gate) { maker.gates = gates }))
	}
	s.progress.knows(cascade)
	result, err := r.Run(ctx, cascade, input, options...)
	if errors.Is(err, runner.ErrRunExists) {
		return usage("run %s exists already: choose another --run-id, or continue it with capstan resume %[1]s", f.runID)
	}
	if refused(err) {
		c.noteTexts(cascade, input, err)
		return c.finish(s, result, err, f.json)
	}
	s.progress.close(result)
	if result.Status != runner.Cancelled && len(result.Phases) > 0 {
		for _, entry := range s.models.Left() {
			fmt.Fprintln(c.Stderr, "note: not used:", entry)
		}
	}
	if maker != nil && err == nil {
		return maker.finish(result, f.json)
	}
	return c.finish(s, result, err, f.json)
}

// isRunID refuses a name that no run can have; "" is for a new one.
func isRunID(run string) error {
	if run == "" {
		return nil
	}
	if err := runner.CheckRunID(run); err != nil {
		return usage("--run-id: %w", err)
	}
	return nil
}

// loaded reads the cascade to run, and tells which of its gates are in shadow that
// would refuse something if they had the evidence.
func (c *Command) loaded(r *runner.Runner, file string, f runFlags) (*cascades.Cascade, error) {
	cascade, err := r.Load(file)
	if err != nil {
		return nil, err
	}
	if f.strict && len(cascade.Warnings) > 0 {
		return nil, cascade.Warnings.Strict()
	}
	for _, w := range cascade.Warnings {
		if w.Code == cascades.CodeUnproven {
			fmt.Fprintln(c.Stderr, w)
		}
	}
	c.unnamed(cascade, f.model)
	return cascade, nil
}

// refused tells whether there was no run to tell of: its inputs were wrong.
func refused(err error) bool {
	var wrong cascades.InputErrors
	return errors.As(err, &wrong)
}

// ready reports what would only be found in the middle of a run, and what is
// wrong with its input beside that; where nothing else is, the run itself does.
func (c *Command) ready(ctx context.Context, cascade *cascades.Cascade, input map[string]any, m *models, f runFlags, chosen string) error {
	err := m.ready(cascade, chosen)
	if name := cascade.RunsCommands(); !f.allowExec && name != "" {
		err = usage("%s uses %s, which needs --allow-exec", cascade.File, name)
	}
	if err == nil {
		return nil
	}
	if wrong := cascade.CheckInput(ctx.Err, input); len(wrong) > 0 {
		return usage("%w\n%w", wrong, err)
	}
	return err
}

// finish prints a result and gives the status to end with.
func (c *Command) finish(s *kit, result runner.Result, err error, asJSON bool) error {
	if asJSON {
		if e := printJSON(c.Stdout, result); e != nil {
			return &exit{exitBroken, e}
		}
	} else if err == nil {
		if e := printOutput(c.Stdout, result.Output); e != nil {
			return &exit{exitBroken, e}
		}
	}
	var failure *runner.Error
	switch {
	case !errors.As(err, &failure):
		return err
	case s.journal == nil || errors.Is(err, runner.ErrNotKept) || refused(err): // no other command finds the run
		return &exit{status(failure), failure}
	}
	return &exit{status(failure), advised{failure, s.next(result)}}
}

// next returns the step after a result: none if the run was refused before the journal
// had it, as no command finds it then.
func (s *kit) next(result runner.Result) endings.Step {
	run, err := s.journal.Run(context.Background(), result.RunID)
	if err != nil {
		return endings.Step{}
	}
	return endings.After(run, result)
}

// An advised error has a next step, which is printed after it.
type advised struct {
	error
	step endings.Step
}

// Unwrap returns the error without its step.
func (a advised) Unwrap() error { return a.error }

// printOutput prints a text as it is, with a newline at its end, and any other value
// as indented JSON.
func printOutput(w io.Writer, output any) error {
	text, ok := output.(string)
	if !ok {
		return printJSON(w, output)
	}
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	return writeJSON(w, []byte(text)) // it may be JSON
}

// printJSON prints a value as an indented JSON document.
func printJSON(w io.Writer, v any) error {
	text, err := schema.Indent(v)
	if err != nil {
		return err
	}
	return writeJSON(w, append(text, '\n'))
}

// An eventFile writes events as JSON Lines. An error of writing does not end the run;
// report prints it at the end.
type eventFile struct {
	f    *os.File
	out  io.Writer
	json event.Encoder
	line []byte
	err  error
}

// Emit writes one line. The first takes the place of what the file had.
func (s *eventFile) Emit(e event.Event) {
	if s.line == nil {
		_ = s.f.Truncate(0) // a pipe has nothing
	}
	line, err := s.json.AppendJSON(s.line[:0], &e)
	if err == nil {
		s.line = append(line, '\n')
		err = redactions.WriteJSON(s.out, s.line)
	}
	if s.err == nil {
		s.err = err
	}
}

func (s *eventFile) report(w io.Writer) {
	if err := s.f.Close(); s.err == nil {
		s.err = err
	}
	if s.err != nil {
		fmt.Fprintln(w, "note: events are missing:", s.err)
	}
}
