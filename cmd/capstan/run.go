package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// runFlags are the flags of run.
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

	given  map[string]any // the input, if it does not come from a flag
	parent string         // the run whose unchanged calls are shared; "" for none
	rerun  bool           // does not print the output
}

// shared adds the flags that run and resume share.
func (f *runFlags) shared(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.events, "events", "", "JSON Lines file for the events")
	flags.BoolVar(&f.json, "json", false, flagTexts["json"])
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress output")
	f.store.add(cmd)
	f.store.addDurable(cmd)
}

// how adds the flags for the options of new runs.
func (f *runFlags) how(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var((*modelflag.Models)(&f.model), "model", flagTexts["model"])
	flags.BoolVar(&f.strict, "strict", false, flagTexts["strict"])
	flags.StringArrayVar(&f.hosts, "allow-host", nil, flagTexts["allow-host"])
	f.names.add(cmd)
	flags.BoolVar(&f.allowExec, "allow-exec", false, flagTexts["allow-exec"])
}

func (c *Command) run() *cobra.Command {
	var f runFlags
	b := batchFlags{times: 1}
	watch, only, from := false, "", ""
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade",
		Long: `Run a cascade and print the output of its last phase; progress goes to standard error.
--model scripted takes the replies from NAME.scripted.yaml next to NAME.yaml and needs
no key. --each runs the cascade for every row of a dataset, and the same command
continues an interrupted batch. --only PHASE --from-run RUN runs one phase with the input
and the other outputs of a stored run; FILE may be left out.`,
		Example: `  capstan run post.yaml --input topic=owls
  capstan run review.yaml --input document=@report.md --model scripted
  capstan run post.yaml --input-file input.json --json --events run.jsonl
  capstan run post.yaml --each topics.csv --out results.jsonl --parallel 8
  capstan run --only polish --from-run last`,
		Args: func(cmd *cobra.Command, args []string) error {
			if only != "" {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if only != "" || from != "" {
				return c.runOnly(cmd, args, only, from, f)
			}
			if err := b.conflict(cmd, f, watch); err != nil {
				return err
			}
			switch {
			case watch:
				return c.watchCascade(cmd.Context(), args[0], f)
			case b.set == "":
				return c.runCascade(cmd.Context(), args[0], f)
			}
			return c.runBatch(cmd.Context(), args[0], f, b, false)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.inputs, "input", nil, flagTexts["input"])
	flags.StringVar(&f.inputFile, "input-file", "", flagTexts["input-file"])
	flags.StringVar(&f.runID, "run-id", "", flagTexts["run-id"])
	flags.StringVar(&b.set, "each", "", flagTexts["each"])
	flags.BoolVar(&watch, "watch", false, "new run after each change of a file that the cascade reads")
	flags.StringVar(&only, "only", "", "the only phase to run, with the other outputs of the run of --from-run")
	flags.StringVar(&from, "from-run", "", "stored run whose input and outputs --only uses")
	f.how(cmd)
	b.add(cmd)
	flags.StringVar(&f.receipt, "receipt", "", "file for a signed receipt; the output is printed byte for byte")
	f.proof.add(cmd)
	f.shared(cmd)
	return cmd
}

// conflict returns an error for flags of run that exclude each other.
func (b batchFlags) conflict(cmd *cobra.Command, f runFlags, watch bool) error {
	if b.set == "" {
		for _, name := range []string{"out", "parallel", "budget", "batch"} {
			if cmd.Flags().Changed(name) {
				return usage("--%s goes with --each", name)
			}
		}
		return nil
	}
	switch {
	case watch:
		return usage("--watch runs one input, and --each many")
	case f.runID != "" || f.inputFile != "":
		return usage("--run-id and --input-file are of one run, and --each makes many")
	case f.receipt != "":
		return usage("--receipt is for one run: after --each, use capstan receipt sign RUN")
	}
	return nil
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
	r, err := s.runner(c, f, chosen, c.sharing(s, f.parent)...)
	if err != nil {
		return err
	}
	cascade, err := c.loaded(r, file, f)
	if err != nil {
		return err
	}
	input := f.given
	if input == nil {
		if input, err = c.inputs(f.inputFile, f.inputs); err != nil {
			return err
		}
	}
	if err := c.spares(f, "", chosen, cascade.Files); err != nil {
		return err
	}
	if err := c.ready(ctx, cascade, input, s.models, f, chosen); err != nil {
		c.noteTexts(cascade, input, err)
		return err
	}
	options := []runner.RunOption{runner.WithRunID(f.runID), runner.WithSettings(f.settings()), runner.WithParent(f.parent, "")}
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
	if left := s.models.Left(); result.Status != engine.Cancelled && len(result.Phases) > 0 && len(left) > 0 {
		fmt.Fprintln(c.Stderr, "note: not used:", strings.Join(left, "; "))
	}
	if maker != nil && err == nil {
		return maker.finish(result, f.json)
	}
	if f.rerun && err == nil {
		return nil
	}
	return c.finish(s, result, err, f.json)
}

// isRunID returns an error for an invalid name of a run. The name may be "",
// for a new run.
func isRunID(run string) error {
	if run == "" {
		return nil
	}
	if err := runner.CheckRunID(run); err != nil {
		return usage("--run-id: %w", err)
	}
	return nil
}

// loaded loads the cascade of a run. It prints a note for each gate that is in
// shadow mode because it lacks evidence.
func (c *Command) loaded(r *runner.Runner, file string, f runFlags) (*cascades.Cascade, error) {
	cascade, err := r.Load(file)
	if err != nil {
		return nil, err
	}
	if f.strict && len(cascade.Warnings) > 0 {
		return nil, cascade.Warnings.Strict()
	}
	for _, w := range cascade.Warnings {
		if w.Code == codes.Unproven {
			fmt.Fprintln(c.Stderr, w)
		}
	}
	c.unnamed(cascade, f.model)
	return cascade, nil
}

// refused reports whether the run was rejected because of its inputs.
func refused(err error) bool {
	var wrong cascades.InputErrors
	return errors.As(err, &wrong)
}

// ready returns the errors that would otherwise end the run later, together
// with the errors of its input. If only the input is wrong, the run itself
// reports it.
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

// finish prints a result and returns its exit status as an error.
func (c *Command) finish(s *kit, result engine.Result, err error, asJSON bool) error {
	if asJSON {
		if e := printJSON(c.Stdout, result); e != nil {
			return &exit{exitBroken, e}
		}
	} else if err == nil {
		if e := printOutput(c.Stdout, result.Output); e != nil {
			return &exit{exitBroken, e}
		}
	}
	var failure *engine.Error
	switch {
	case !errors.As(err, &failure):
		return err
	case s.journal == nil || errors.Is(err, runner.ErrNotKept) || refused(err): // the run is not in the store
		return &exit{status(failure), failure}
	}
	text := failure.Error()
	if result.Error != nil && !s.progress.quiet() {
		text = withoutReason(result.Error, result.Verdicts)
	}
	return &exit{status(failure), advised{failure, text, s.next(result)}}
}

// withoutReason describes the error of a run without the reason of the verdict that ended
// it, for a reader who has seen the verdicts.
func withoutReason(e *event.Error, verdicts []event.Verdict) string {
	text := e.String()
	for _, v := range slices.Backward(verdicts) {
		if v.Phase != e.Phase || v.Valid == nil || *v.Valid || v.Reason == "" || oneLine(v.Reason) != v.Reason {
			continue
		}
		if before, after, found := strings.Cut(text, ": "+v.Reason); found {
			return before + after
		}
	}
	return text
}

// next returns the step after a result. A rejected run is not in the journal
// and has no next step.
func (s *kit) next(result engine.Result) nextsteps.Step {
	run, err := s.journal.Run(context.Background(), result.RunID)
	if err != nil {
		return nextsteps.Step{}
	}
	return nextsteps.After(run, result)
}

// An advised error has its own text, followed by a next step.
type advised struct {
	error
	text string
	step nextsteps.Step
}

func (a advised) Error() string { return a.text }

// Unwrap returns the error without its step.
func (a advised) Unwrap() error { return a.error }

// printOutput prints a text with a newline at its end, and any other value as
// indented JSON.
func printOutput(w io.Writer, output any) error {
	text, ok := output.(string)
	if !ok {
		return printJSON(w, output)
	}
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	return writeJSON(w, []byte(text)) // the text may be JSON
}

// printJSON prints a value as an indented JSON document.
func printJSON(w io.Writer, v any) error {
	text, err := schema.Indent(v)
	if err != nil {
		return err
	}
	return writeJSON(w, append(text, '\n'))
}

// An eventFile writes events as JSON Lines. A failed write does not end the
// run. report prints it at the end.
type eventFile struct {
	f       *os.File
	out     io.Writer
	written bool
	err     error
}

// Emit writes one line. The first line replaces the contents of the file.
func (s *eventFile) Emit(e event.Event) {
	if !s.written {
		s.written = true
		_ = s.f.Truncate(0) // fails for a pipe
	}
	line, err := e.MarshalJSON()
	if err == nil {
		err = redactions.WriteJSON(s.out, append(line, '\n'))
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
