package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// runFlags are what run takes besides the file.
type runFlags struct {
	inputs    []string
	inputFile string
	model     string
	runID     string
	events    string
	hosts     []string
	root      string
	allowExec bool
	json      bool
	quiet     bool
}

func (c *Command) run() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade",
		Long: `Run a cascade. The output of its last phase goes to standard output, progress
to standard error. --model scripted uses the replies in NAME.scripted.yaml
beside the cascade NAME.yaml, and needs no key.`,
		Example: `  capstan run post.yaml --input topic=owls
  capstan run review.yaml --input document=@report.md --model scripted
  capstan run post.yaml --input-file input.json --json --events run.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.runCascade(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.inputs, "input", nil, "an input: name=text, name:=JSON or name=@file")
	flags.StringVar(&f.inputFile, "input-file", "", "a JSON object of inputs, - for standard input")
	flags.StringVar(&f.model, "model", "", "the default model: NAME, openai:NAME, scripted:FILE (or CAPSTAN_MODEL)")
	flags.StringVar(&f.runID, "run-id", "", "the run's name")
	flags.StringVar(&f.events, "events", "", "write every event to this file, as JSON Lines")
	flags.StringVar(&f.root, "root", ".", "the directory that file tools may not leave")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "a host that http_get may reach: name, name:port or *.name")
	flags.BoolVar(&f.allowExec, "allow-exec", false, "let the model run commands through run_command")
	flags.BoolVar(&f.json, "json", false, "print the whole result as one JSON object")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return cmd
}

func (c *Command) runCascade(ctx context.Context, file string, f runFlags) error {
	models := &models{getenv: c.Getenv, stream: !f.quiet && c.terminal(c.Stderr)}
	servers := &remote{}
	defer servers.client.Close()
	p := c.progress(f.quiet)
	options := []runner.Option{
		withGates(),
		runner.WithModel(models), runner.WithModelName(models.chosen(f.model, file)),
		runner.WithTools(tools(tool.Options{Root: f.root, Hosts: f.hosts, AllowExec: f.allowExec})...),
		runner.WithRemote(servers), runner.WithSink(p), runner.WithText(p.text), runner.WithAsk(c.asker(p)),
	}
	if f.events != "" {
		w, err := os.Create(f.events)
		if err != nil {
			return usage("--events: %w", err)
		}
		sink := newEventFile(w)
		defer sink.report(c.Stderr)
		options = append(options, runner.WithSink(sink))
	}
	r, err := runner.New(options...)
	if err != nil {
		return usage("%w", err)
	}
	cascade, err := r.Load(file)
	if err != nil {
		return err
	}
	if err := c.ready(cascade, models, f, file); err != nil {
		return err
	}
	input, err := c.inputs(f.inputFile, f.inputs)
	if err != nil {
		return err
	}
	result, err := r.Run(ctx, cascade, input, runner.WithRunID(f.runID))
	p.close(result)
	if result.Status != runner.Cancelled {
		for _, entry := range models.left() {
			fmt.Fprintln(c.Stderr, "note: not used:", entry)
		}
	}
	return c.finish(result, err, f.json)
}

// ready reports what would only be found in the middle of a run.
func (c *Command) ready(cascade *cascades.Cascade, m *models, f runFlags, file string) error {
	if !f.allowExec && cascade.Uses("run_command") {
		return usage("%s uses run_command, which needs --allow-exec", file)
	}
	return m.ready(cascade, m.chosen(f.model, file))
}

// finish prints a result and gives the status to end with.
func (c *Command) finish(result runner.Result, err error, asJSON bool) error {
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
	if errors.As(err, &failure) {
		return &exit{status(failure), failure}
	}
	return err
}

// printOutput prints a text as it is, with a newline at its end, and anything
// else as indented JSON.
func printOutput(w io.Writer, output any) error {
	text, ok := output.(string)
	if !ok {
		return printJSON(w, output)
	}
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// An eventFile writes events as JSON Lines. What cannot be written does not
// end the run; it is told at the end.
type eventFile struct {
	f   *os.File
	err error
}

func newEventFile(f *os.File) *eventFile { return &eventFile{f: f} }

// Emit writes one line.
func (s *eventFile) Emit(e event.Event) {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = s.f.Write(append(line, '\n'))
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
