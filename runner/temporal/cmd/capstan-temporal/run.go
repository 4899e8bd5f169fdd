package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/inputs"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/temporal"
)

// A startRequest has the flags of run.
type startRequest struct {
	values       []string
	models       modelflag.Models
	file, id     string
	json, detach bool
}

func (c *cluster) run() *cobra.Command {
	var q startRequest
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade on the cluster, and wait for its output",
		Long: `Run a cascade on the cluster. The output of its last phase goes to standard
output, the run's name and its questions to standard error. The run continues when
this command is interrupted.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.execute(cmd, args[0], q) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&q.values, "input", nil, "an input: NAME=TEXT, NAME:=JSON or NAME=@FILE")
	flags.StringVar(&q.file, "input-file", "", "a JSON object of inputs, - for standard input")
	flags.Var(&q.models, "model",
		"NAME, scripted:FILE: the default model; OLD=NEW, '*=NEW': another one for that, or for all (or CAPSTAN_MODEL)")
	flags.StringVar(&q.id, "run-id", "", "the run's name")
	flags.BoolVar(&q.json, "json", false, "print the whole result as JSON")
	flags.BoolVar(&q.detach, "detach", false, "do not wait for the end")
	return cmd
}

// execute starts a run of the cascade in a file. It waits for the end unless the request
// is detached.
func (c *cluster) execute(cmd *cobra.Command, file string, q startRequest) error {
	input, err := inputs.Files{Stdin: cmd.InOrStdin()}.Inputs(q.file, q.values)
	if err != nil {
		return err
	}
	r, err := c.runner()
	if err != nil {
		return err
	}
	cascade, err := r.Load(file)
	if err != nil {
		return err
	}
	if wrong := cascade.CheckInput(cmd.Context().Err, input); len(wrong) > 0 {
		return wrong
	}
	if q.id == "" {
		q.id = runner.NewRunID(time.Now())
	}
	if err := runner.CheckRunID(q.id); err != nil {
		return fmt.Errorf("--run-id: %w", err)
	}
	opened, err := c.open()
	if err != nil {
		return err
	}
	defer opened.close()
	t, err := c.dial(cmd.Context())
	if err != nil {
		return err
	}
	defer t.Close()
	runs := &temporal.Client{Temporal: t, Texts: opened.texts, Queue: c.queue}
	chosen := q.models.Chosen(os.Getenv("CAPSTAN_MODEL"), file, asNamed)
	err = runs.Begin(telemetry.Incoming(cmd.Context(), os.Getenv),
		temporal.Request{RunID: q.id, Cascade: cascade, Input: input, Model: chosen})
	switch err = c.advise(err); {
	case errors.Is(err, errTaken):
		return err
	case err != nil:
		return connection{err}
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "run", q.id)
	if q.detach {
		return nil
	}
	return c.await(cmd, runs, q)
}

// await prints the questions and problems of a run until it ends, and then its result.
func (c *cluster) await(cmd *cobra.Command, runs *temporal.Client, q startRequest) error {
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	go runs.Explain(ctx, q.id, func(reason string) { fmt.Fprintln(cmd.ErrOrStderr(), "run", q.id+":", reason) })
	result, err := runs.Wait(cmd.Context(), q.id)
	if cmd.Context().Err() != nil {
		return ended(130)
	}
	if err != nil {
		return connection{err}
	}
	return show(cmd.OutOrStdout(), cmd.ErrOrStderr(), result, q.json)
}

// statuses are the exit statuses of unsuccessful runs.
var statuses = map[string]ended{
	engine.Blocked: 1, engine.Exhausted: 1, engine.Failed: broken, engine.Waiting: 4, engine.OverBudget: 5, engine.Cancelled: 130,
}

func show(stdout, stderr io.Writer, r engine.Result, asJSON bool) error {
	var err error
	text, isText := r.Output.(string)
	switch {
	case asJSON:
		err = printJSON(stdout, r)
	case r.Status != engine.Succeeded:
	case isText:
		_, err = io.WriteString(stdout, strings.TrimSuffix(text, "\n")+"\n")
	default:
		err = printJSON(stdout, r.Output)
	}
	if err != nil {
		return connection{err}
	}
	if r.Status == engine.Succeeded {
		return nil
	}
	if r.Error != nil {
		fmt.Fprintln(stderr, r.Error)
		if at := r.Error.Position.String(); at != "" {
			fmt.Fprintln(stderr, "  at "+at)
		}
	}
	status, ok := statuses[r.Status]
	if !ok {
		status = broken
	}
	if r.Error != nil && r.Error.Code == engine.Invalid {
		status = usage
	}
	return status
}

// asNamed returns the name of a model unchanged, because no run of the store is
// a model here.
func asNamed(name string) string { return name }

func printJSON(w io.Writer, v any) error {
	out, err := schema.Indent(v)
	if err == nil {
		_, err = w.Write(append(out, '\n'))
	}
	return err
}

func (c *cluster) answer() *cobra.Command {
	var question, by string
	cmd := &cobra.Command{
		Use:   "answer RUN [VALUE]",
		Short: "Answer a question of a run; without a value, list the open ones",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := c.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer t.Close()
			runs := &temporal.Client{Temporal: t, Queue: c.queue}
			if len(args) == 2 {
				return c.advise(runs.Answer(cmd.Context(), args[0], temporal.Answer{Question: event.Path(question), Value: args[1], By: by}))
			}
			list, err := runs.Questions(cmd.Context(), args[0])
			if err != nil {
				return c.advise(err)
			}
			for _, q := range list {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\t%s\n", q.Path, q.Question.Type, q.Question.Prompt)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&question, "question", "", "the question's key, as the list has it; needed where several questions are open")
	cmd.Flags().StringVar(&by, "as", "", "who answers")
	return cmd
}
