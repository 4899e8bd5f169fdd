package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// answerFlags are what answer takes besides the run.
type answerFlags struct {
	as       string
	file     string
	shown    bool
	question string
	store    storeFlags
}

func (c *Command) answer() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use:   "answer RUN [VALUE]",
		Short: "Answer the question of a waiting run",
		Long: `Answer a waiting run: a confirmation takes yes or no, a choice takes an option or its
number, and other questions take any text. If the question asks for a changed text,
--show prints the original and --file reads the new one. If several questions are open,
--question names one by its key. RUN is a whole name, or last; continue with capstan
resume.`,
		Example: `  capstan answer last yes && capstan resume last
  capstan answer last --show >text.md; $EDITOR text.md; capstan answer last --file text.md`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 2) == (f.file != "" || f.shown) || f.file != "" && f.shown {
				return usage("answer takes a VALUE, --file or --show")
			}
			if f.shown {
				return c.look(f.store, func(j *journal.Journal) error { return c.showText(cmd.Context(), j, args[0], event.Path(f.question)) })
			}
			said := strings.Join(args[1:], "")
			if f.file != "" {
				text, err := c.files().Bytes(f.file)
				if err != nil {
					return usage("--file: %w", err)
				}
				said = string(text)
			}
			j, err := c.kept(f.store, false)
			if err != nil {
				return err
			}
			defer j.Close()
			return c.giveAnswer(cmd.Context(), j, args[0], said, f)
		},
	}
	f.store.add(cmd)
	cmd.Flags().StringVar(&f.as, "as", "", flagTexts["as"])
	cmd.Flags().StringVar(&f.file, "file", "", "file with the answer, or - for standard input")
	cmd.Flags().StringVar(&f.question, "question", "", "key of the question; needed if several are open")
	cmd.Flags().BoolVar(&f.shown, "show", false, "text to change, printed without an answer")
	return cmd
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
	if p.Question.Type != cascades.Edit {
		return usage("run %s waits for no text to be changed", run.RunID)
	}
	_, err = io.WriteString(c.Stdout, p.Question.Text)
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
	case err != nil && run.Status == runner.Waiting:
		return nil, usage("run %s has its answer; capstan resume %s goes on", run.RunID, run.RunID)
	case err != nil:
		return nil, usage("run %s is %s and waits for nothing", run.RunID, run.Status)
	}
	return p, nil
}

func (c *Command) giveAnswer(ctx context.Context, j *journal.Journal, id, said string, f answerFlags) error {
	run, err := wholeRun(ctx, j, id)
	if err != nil {
		return err
	}
	p, err := openQuestion(run, event.Path(f.question))
	if err != nil {
		return err
	}
	value, ok := answered(p.Question, said)
	if !ok && !p.Expired {
		return usage("%s does not answer it (%s): %s", quoted(said), p.Question.Unfit(value), posed(p.Question))
	}
	if run.Guest {
		return usage("run %s is made by %s, which takes its answers: capstan-temporal answer %s %s --question %s",
			run.RunID, run.Owner, run.RunID, quoted(said), p.Path)
	}
	if err := j.Answer(ctx, run.RunID, p.Path, runner.Answer{Value: value, By: cmp.Or(f.as, c.person())}); errors.Is(err, runner.ErrExpired) {
		return usage("%w; capstan resume %s goes on without an answer", err, run.RunID)
	} else if errors.Is(err, runner.ErrAnswered) {
		return usage("%w", err)
	} else if err != nil {
		return found(err, run.RunID)
	}
	if rest := slices.DeleteFunc(slices.Clone(run.Pending), func(o journal.Pending) bool { return o.Expired || o.Path == p.Path }); len(rest) > 0 {
		fmt.Fprintf(c.Stderr, "answered %s; open: %s\n", p.Path, oneLine(journal.Keys(rest)))
		return nil
	}
	fmt.Fprintf(c.Stderr, "answered; capstan resume %s goes on\n", oneLine(run.RunID))
	return nil
}

// quoted is a text between quotes, of which a message has room for the
// beginning.
func quoted(said string) string {
	if r := []rune(said); len(r) > 100 {
		said = string(r[:100]) + "…"
	}
	return fmt.Sprintf("%q", said)
}
