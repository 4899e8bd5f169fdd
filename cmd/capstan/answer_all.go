package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A listedQuestion is an open question of a run, in a list of them.
type listedQuestion struct {
	journal.Pending
	run   *journal.Run
	about *trace.Subject // nil if it is about no text
}

// answerAll lists the open questions of waiting runs and gives one answer to all.
func (c *Command) answerAll(ctx context.Context, value string, f answerFlags) error {
	j, err := c.openStored(f.store, false)
	if err != nil {
		return err
	}
	defer j.Close()
	list, err := listQuestions(ctx, j, f)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return c.noQuestion(ctx, j, f)
	}
	c.printQuestions(list)
	switch {
	case value != "":
	case !c.asks():
		return usage("these questions have no answer yet: capstan answer --all%s VALUE gives one to all of them", f.filters())
	default:
		fmt.Fprintf(c.Stderr, "\nyour answer for all %d (empty: none): ", len(list))
		line, err := readLine(ctx, bufio.NewReader(c.Stdin))
		if value = strings.TrimSpace(line); err != nil || value == "" {
			return usage("no answer was given")
		}
	}
	failed := 0
	for _, q := range list {
		outcome, err := c.stored(ctx, j, q.run, &q.Pending, value, f.as)
		if err != nil {
			failed++
			outcome = "not answered: " + oneLine(err.Error())
		}
		fmt.Fprintf(c.Stdout, "%s  %s\n", oneLine(q.run.RunID), outcome)
	}
	if failed > 0 {
		return usage("%d of %d questions have no answer", failed, len(list))
	}
	return nil
}

// filters returns the flags that select questions.
func (f *answerFlags) filters() (flags string) {
	if f.phase != "" {
		flags = " --phase " + f.phase
	}
	if f.cascade != "" {
		flags += " --cascade " + f.cascade
	}
	return flags
}

// noQuestion prints that no question waits. It returns an error if no waiting run has
// the phase of the flags.
func (c *Command) noQuestion(ctx context.Context, j *journal.Journal, f answerFlags) error {
	runs, err := j.Runs(ctx, journal.Filter{Status: engine.Waiting, Cascade: f.cascade})
	if err != nil {
		return &exit{exitBroken, err}
	}
	var phases []string
	for _, r := range runs {
		run, err := j.Run(ctx, r.RunID)
		if err != nil {
			return found(err, r.RunID)
		}
		if cascade := c.cascadeOf(run); cascade != nil {
			for _, within := range cascade.Within() {
				for _, p := range within.EveryPhase() {
					phases = append(phases, p.Name)
				}
			}
		}
	}
	if f.phase != "" && len(phases) > 0 && !slices.Contains(phases, f.phase) {
		return usage("--phase: no waiting run has a phase %q%s", f.phase, meant(f.phase, phases))
	}
	fmt.Fprintln(c.Stderr, "no question waits for an answer")
	return nil
}

// listQuestions returns the open questions that the flags select, of the newest run
// first. A changed text answers one question only, so the list has no edits.
func listQuestions(ctx context.Context, j *journal.Journal, f answerFlags) ([]listedQuestion, error) {
	runs, err := j.Runs(ctx, journal.Filter{Status: engine.Waiting, Cascade: f.cascade})
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	var list []listedQuestion
	for _, r := range runs {
		run, err := j.Run(ctx, r.RunID)
		if err != nil {
			return nil, found(err, r.RunID)
		}
		var about map[event.Path]*trace.Subject
		for _, p := range run.Pending {
			if p.Expired || p.Question.Type == cascades.Edit || f.phase != "" && p.Question.Phase != f.phase {
				continue
			}
			if about == nil {
				if about, err = subjects(ctx, j, run); err != nil {
					return nil, err
				}
			}
			list = append(list, listedQuestion{p, run, about[p.Path]})
		}
	}
	return list, nil
}

// printQuestions prints the list: for each question the run, the phase, the question
// and the beginning of its text.
func (c *Command) printQuestions(list []listedQuestion) {
	t := &runPrinter{out: c.visible()}
	for _, q := range list {
		t.line("%s  %s  %s", oneLine(q.run.RunID), oneLine(q.run.CascadeID), oneLine(posed(q.Question)))
		if q.about == nil {
			continue
		}
		if q.about.Text != "" {
			t.line("  | %s", oneLine(q.about.Text))
		}
		if n := len(q.about.Verdicts); n > 0 {
			t.line("  %d of %s passed", q.about.Passed(), reports.Count(n, "check"))
		}
	}
	t.line("")
}
