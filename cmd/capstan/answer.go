package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// answerFlags are the flags of answer.
type answerFlags struct {
	as       string
	file     string
	shown    bool
	question string
	all      bool
	phase    string
	cascade  string
	store    storeFlags
}

func (c *Command) answer() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use:   "answer [RUN] [VALUE]",
		Short: "Answer the question of a waiting run",
		Long: `Answer a waiting run: a confirmation takes yes or no, a choice takes an option or its
number, and other questions take any text. Without VALUE, the command shows the question
with its text, the verdicts and the difference to the previous version, and asks on a
terminal. --all answers every waiting run after a list. RUN is a whole name, or last.`,
		Example: `  capstan answer last
  capstan answer last yes && capstan resume last
  capstan answer last --show >text.md; $EDITOR text.md; capstan answer last --file text.md
  capstan answer --all --phase approve yes`,
		Args: cobra.RangeArgs(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			switch {
			case f.all:
				return c.answerAll(cmd.Context(), strings.Join(args, ""), f)
			case f.shown:
				return c.look(f.store, func(j *journal.Journal) error { return c.showText(cmd.Context(), j, args[0], event.Path(f.question)) })
			}
			value := strings.Join(args[1:], "")
			if f.file != "" {
				text, err := c.files().Bytes(f.file)
				if err != nil {
					return usage("--file: %w", err)
				}
				value = string(text)
			}
			j, err := c.openStored(f.store, false)
			if err != nil {
				return err
			}
			defer j.Close()
			return c.answerOne(cmd.Context(), j, args[0], value, len(args) == 2 || f.file != "", f)
		},
	}
	f.store.add(cmd)
	cmd.Flags().StringVar(&f.as, "as", "", flagTexts["as"])
	cmd.Flags().StringVar(&f.file, "file", "", "file with the answer, or - for standard input")
	cmd.Flags().StringVar(&f.question, "question", "", "key of the question; needed if several are open")
	cmd.Flags().BoolVar(&f.shown, "show", false, "text of the question, printed without an answer")
	cmd.Flags().BoolVar(&f.all, "all", false, "all waiting runs, with one answer for all")
	cmd.Flags().StringVar(&f.phase, "phase", "", "name of the phase")
	cmd.Flags().StringVar(&f.cascade, "cascade", "", "only runs of the cascade with this id")
	return cmd
}

// check reports arguments and flags that do not go together.
func (f *answerFlags) check(args []string) error {
	switch {
	case f.all && (len(args) > 1 || f.file != "" || f.shown || f.question != ""):
		return usage("answer --all takes a VALUE, --phase, --cascade and --as")
	case f.all:
		return nil
	case f.phase+f.cascade != "":
		return usage("--phase and --cascade go with --all")
	case len(args) == 0:
		return usage("answer takes the name of a run, last, or --all")
	case len(args) == 2 && (f.file != "" || f.shown), f.file != "" && f.shown:
		return usage("answer takes a VALUE, --file or --show")
	}
	return nil
}

// showText prints the text that a run's question is about, to the byte.
func (c *Command) showText(ctx context.Context, j *journal.Journal, id string, key event.Path) error {
	run, err := j.Run(ctx, id)
	if err != nil {
		return found(err, id)
	}
	p, err := openQuestion(run, key)
	if err != nil {
		return err
	}
	list, err := subjects(ctx, j, run)
	if err != nil {
		return err
	}
	s := list[p.Path]
	if s == nil {
		return usage("the question of run %s is about no text", run.RunID)
	}
	_, err = io.WriteString(c.Stdout, s.Text)
	return err
}

// openQuestion returns the open question with a key or, without one, the only one.
func openQuestion(run *journal.Run, key event.Path) (*journal.Pending, error) {
	p, err := run.Question(key)
	switch {
	case errors.Is(err, runner.ErrSeveral):
		var b strings.Builder
		for _, p := range run.Pending {
			if !p.Expired {
				fmt.Fprintf(&b, "\n  --question %s  %s", p.Path, oneLine(posed(p.Question)))
			}
		}
		return nil, usage("run %s has several open questions; name one:%s", run.RunID, b.String())
	case err != nil && len(run.Pending) > 0:
		return nil, usage("%w; open: %s", err, journal.Keys(run.Pending))
	case err != nil && run.Status == engine.Waiting:
		return nil, usage("run %s has its answer; capstan resume %s goes on", run.RunID, run.RunID)
	case err != nil:
		return nil, usage("run %s is %s and waits for nothing", run.RunID, run.Status)
	}
	return p, nil
}

// answerOne answers the question of a run. Without a value it asks.
func (c *Command) answerOne(ctx context.Context, j *journal.Journal, id, value string, valued bool, f answerFlags) error {
	run, err := wholeRun(ctx, j, id)
	if err != nil {
		return err
	}
	if !valued {
		return c.askOpen(ctx, j, run, f)
	}
	p, err := openQuestion(run, event.Path(f.question))
	if err != nil {
		return err
	}
	return c.give(ctx, j, run, p, value, f)
}

// give stores an answer and prints how the run continues.
func (c *Command) give(ctx context.Context, j *journal.Journal, run *journal.Run, p *journal.Pending, text string, f answerFlags) error {
	notice, err := c.stored(ctx, j, run, p, text, f.as)
	if err == nil {
		fmt.Fprintln(c.Stderr, notice)
	}
	return err
}

// stored stores an answer and returns how the run continues.
func (c *Command) stored(ctx context.Context, j *journal.Journal, run *journal.Run, p *journal.Pending, text, as string) (string, error) {
	value, ok := answered(p.Question, text)
	if !ok && !p.Expired {
		return "", usage("%s does not answer it (%s): %s", quoted(text), p.Question.Problem(value), posed(p.Question))
	}
	if run.External {
		return "", usage("run %s is made by %s, which takes its answers: capstan-temporal answer %s %s --question %s",
			run.RunID, run.Owner, run.RunID, quoted(text), p.Path)
	}
	if err := j.Answer(ctx, run.RunID, p.Path, engine.Answer{Value: value, By: cmp.Or(as, c.person())}); errors.Is(err, runner.ErrExpired) {
		return "", usage("%w; capstan resume %s goes on without an answer", err, run.RunID)
	} else if errors.Is(err, runner.ErrAnswered) {
		return "", usage("%w", err)
	} else if err != nil {
		return "", found(err, run.RunID)
	}
	run.Pending = slices.DeleteFunc(slices.Clone(run.Pending), func(o journal.Pending) bool { return o.Path == p.Path })
	if rest := slices.DeleteFunc(slices.Clone(run.Pending), func(o journal.Pending) bool { return o.Expired }); len(rest) > 0 {
		return fmt.Sprintf("answered %s; open: %s", p.Path, oneLine(journal.Keys(rest))), nil
	}
	return fmt.Sprintf("answered; capstan resume %s goes on", oneLine(run.RunID)), nil
}

// askOpen shows the open questions of a run, or the one that --question names. On a
// terminal it asks them, one after the other.
func (c *Command) askOpen(ctx context.Context, j *journal.Journal, run *journal.Run, f answerFlags) error {
	p, err := openQuestion(run, event.Path(f.question))
	if err != nil && (f.question != "" || !errors.Is(err, runner.ErrSeveral)) {
		return err
	}
	open := slices.DeleteFunc(slices.Clone(run.Pending), func(o journal.Pending) bool { return o.Expired || p != nil && o.Path != p.Path })
	about, err := subjects(ctx, j, run)
	if err != nil {
		return err
	}
	if c.asks() {
		in := bufio.NewReader(c.Stdin)
		t := &runPrinter{out: c.Stderr, cascade: c.cascadeOf(run), all: showAll(run.RunID)}
		for _, p := range open {
			reply, err := c.ask(ctx, in, t, p.Question, about[p.Path])
			if errors.Is(err, runner.ErrNobody) {
				return usage("no answer was given")
			}
			if err == nil {
				err = c.give(ctx, j, run, &p, reply, f)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	t := &runPrinter{out: c.visible(), cascade: c.cascadeOf(run)}
	step := nextsteps.After(run, engine.Result{RunID: run.RunID, Status: run.Status, Error: run.Error})
	for i, p := range open {
		if i > 0 {
			t.line("")
		}
		t.pending(p, about[p.Path], len(run.Pending) > 1)
	}
	step.Look = "" // it is printed above
	text := fmt.Sprintf("run %s waits for an answer, and there is no terminal to ask on", oneLine(run.RunID))
	return &exit{exitUsage, advised{errors.New(text), text, step}}
}

// quoted returns the beginning of a text between quotes.
func quoted(text string) string { return strconv.Quote(clips.Chars(text, 100)) }
