package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// casesDir is the default folder of test cases.
const casesDir = "tests"

func (c *Command) record() *cobra.Command {
	var store storeFlags
	var name, dir string
	var link bool
	cmd := &cobra.Command{
		Use:   "record RUN --name NAME",
		Short: "Record a run as a test",
		Long: `Write a run as a folder of readable files for version control, which capstan test
replays. RUN is the name of a run, the beginning of a name, or last. --link tests the
cascade file in use instead of a copy.`,
		Example: "  capstan test record last --name good_post",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
				return usage("--name names the test: one word that can be a directory, not %q", name)
			}
			err := c.look(store, func(j *journal.Journal) error {
				return c.freezeRun(cmd.Context(), j, args[0], filepath.Join(dir, name), link)
			})
			if err == nil {
				c.markFrozen(cmd.Context(), store, args[0])
			}
			return err
		},
	}
	store.add(cmd)
	cmd.Flags().StringVar(&name, "name", "", "name of the test")
	cmd.Flags().StringVar(&dir, "tests", casesDir, flagTexts["tests"])
	cmd.Flags().BoolVar(&link, "link", false, "a test of the cascade file in use, not of a copy")
	return cmd
}

func (c *Command) freezeRun(ctx context.Context, j *journal.Journal, id, dir string, link bool) error {
	run, err := j.Run(ctx, id)
	if err != nil {
		return found(err, id)
	}
	result, err := j.Result(ctx, run.RunID)
	if err != nil {
		return found(err, id)
	}
	r, err := c.reader()
	if err != nil {
		return usage("%w", err)
	}
	if err := c.samePrograms(r, run.Start); err != nil {
		return &exit{exitBroken, err}
	}
	requests, err := j.Requests(ctx, run.RunID)
	if err != nil {
		return found(err, id)
	}
	recorded := testcases.Run{
		ID: run.RunID, Dir: run.Start.Settings[settingDir], Files: run.Start.Files, Input: run.Start.Input, Model: run.Start.Model, Result: result,
		Effects: j.Effects(ctx, run.RunID),
		Request: requests,
	}
	if from := run.Start.Settings[settingDir]; link && from != "" {
		if dir, err = filepath.Abs(dir); err == nil {
			err = os.Chdir(from) // the names of the cascade's files are relative to it
		}
		if err != nil {
			return usage("--link: %w", err)
		}
	}
	made, err := testcases.Record(ctx, recorded, testcases.Options{Dir: dir, Link: link, Known: r.Known()})
	var differs *testcases.ReplayError
	switch {
	case errors.As(err, &differs):
		return &exit{exitBroken, err}
	case err != nil:
		return notWritten(err)
	}
	fmt.Fprintf(c.Stderr, "recorded; capstan test %s replays it\n", made.Dir)
	if !link {
		fmt.Fprintln(c.Stderr, "the test has a copy of the cascade; --link tests the file itself")
	}
	return nil
}

// samePrograms returns an error if a program that judged in a run is no longer the same
// program. A run with another --root has another folder of programs, and is not compared.
func (c *Command) samePrograms(r *runner.Runner, start runner.Start) error {
	cascade, err := r.Unpack(start.Files)
	if err != nil || !cascade.RunsPrograms() || cmp.Or(start.Settings[settingRoot], ".") != cmp.Or(c.names.root, ".") {
		return err
	}
	was, err := start.Gates(cascade)
	if err != nil {
		return err
	}
	now, err := cascade.Gates(cascades.Chosen(start.Model), func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(start.Settings[settingDir], name)
		}
		return runner.ReadFile(name)
	})
	if err != nil {
		return err
	}
	for i, g := range now {
		if _, is := g.Validator.Program(); is && was[i].Digest != "" && was[i].Digest != g.Digest {
			return fmt.Errorf("the program of validator %s in phase %s has changed since the run: run the cascade again, and record that run", g.Name, g.Phase)
		}
	}
	return nil
}

// markFrozen marks a run as a test, so that capstan runs prune keeps it. An error is only a note.
func (c *Command) markFrozen(ctx context.Context, store storeFlags, id string) {
	j, err := c.openStored(store, false)
	if err == nil {
		defer j.Close()
		err = j.Mark(ctx, id, journal.Frozen)
	}
	if err != nil {
		fmt.Fprintf(c.Stderr, "note: capstan runs prune will not know that the run is frozen: %v\n", err)
	}
}

func (c *Command) testRun() *cobra.Command {
	dir, format := casesDir, "text"
	var update bool
	cmd := &cobra.Command{
		Use:   "run [FOLDER|NAME]...",
		Short: "Run recorded tests without a model or a network",
		Long: `Replay recorded runs. Every answer of a model, a tool, a program or a person comes from
the files of the test, and computed checks run again. A test fails if a request, a
verdict, a route or the output differs.`,
		Annotations: exitStatus("0 every test passed, 1 a test failed, 2 usage or an unreadable file"),
		Example: `  capstan test run
  capstan test run good_post --update
  capstan test run --format junit > report.xml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runCases(cmd.Context(), dir, args, format, update)
		},
	}
	cmd.Flags().StringVar(&dir, "tests", dir, flagTexts["tests"])
	choose(cmd, &format, "format", "output format", "text", "json", "junit")
	jsonFlag(cmd, &format)
	cmd.Flags().BoolVar(&update, "update", false, "new expectations from the present results")
	return cmd
}

func (c *Command) runCases(ctx context.Context, parent string, words []string, format string, update bool) error {
	dirs, err := testcases.Find(parent, words...)
	if err != nil {
		return usage("%w; capstan test record RUN --name NAME makes one", err)
	}
	r, err := c.reader()
	if err != nil {
		return usage("%w", err)
	}
	started := time.Now()
	var all []testcases.Outcome
	var broken, failed, unreadable error
	testcases.Each(ctx, dirs, r.Known(), func(made *testcases.Case, o testcases.Outcome) {
		if update && !o.OK() && made != nil {
			if err := made.Update(o); err != nil {
				fmt.Fprintln(c.Stderr, "not updated:", err)
			} else {
				fmt.Fprintln(c.Stderr, "updated", o.Dir)
				o.Updated, o.Differences = true, nil
				all = append(all, o)
				return
			}
		}
		all = append(all, o)
		if format == "text" {
			t := o.Text()
			broken = errors.Join(broken, t.Write(c.Stdout))
		}
		switch {
		case o.OK():
		case o.Differences[0].About == testcases.Broken:
			unreadable = &exit{status: exitUsage}
		default:
			failed = &exit{status: exitNo}
		}
	})
	for _, phase := range testcases.Unmeasured(all) {
		fmt.Fprintf(c.Stderr, "note: %s: no test releases a text of it, so that it is not known what its checks catch\n", phase)
	}
	if format == "text" {
		fmt.Fprintln(c.Stderr, testcases.Summary(all, time.Since(started)))
	} else {
		broken = errors.Join(broken, c.printReport(testcases.Report(all), format))
	}
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, context.Cause(ctx)}
	case broken != nil:
		return &exit{exitBroken, broken}
	case failed != nil:
		return failed
	}
	return unreadable
}
