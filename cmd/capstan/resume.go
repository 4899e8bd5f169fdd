package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// What a run keeps of the command line that began it.
const (
	settingDir       = "dir" // where it was begun: relative names mean the same again
	settingRoot      = "root"
	settingHosts     = "allow_host"
	settingAllowExec = "allow_exec"
	settingTackle    = "tackle"
	settingMissing   = "allow_missing_tools"
)

func (f *runFlags) settings() map[string]string {
	dir, _ := os.Getwd()
	return map[string]string{
		settingDir: dir, settingRoot: f.names.root, settingHosts: strings.Join(f.hosts, " "), settingAllowExec: strconv.FormatBool(f.allowExec),
		settingTackle: strings.Join(f.names.tackle, "\n"), settingMissing: strconv.FormatBool(f.names.missing),
	}
}

func (f *runFlags) restore(settings map[string]string) {
	f.names.root, f.hosts = settings[settingRoot], strings.Fields(settings[settingHosts])
	f.allowExec = settings[settingAllowExec] == "true"
	f.names.missing = settings[settingMissing] == "true"
	if dirs := settings[settingTackle]; dirs != "" {
		f.names.tackle = strings.Split(dirs, "\n")
	}
}

func (c *Command) resume() *cobra.Command {
	var f runFlags
	var how resumption
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Resume a run after a crash, an interrupt or an answer",
		Long: `Resume a run without repeating finished steps. RUN is the name of a run, the beginning
of a name, or last. The run uses its stored cascade, and stops if a program of the
cascade has changed. --with-changes, --from and --input create a new run, which reuses
every call with an identical request.`,
		Example: `  capstan resume last
  capstan resume 20261120-2150 --from polish
  capstan resume last --input topic=herons`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.resumeRun(cmd.Context(), args[0], how, f)
		},
	}
	f.shared(cmd)
	flags := cmd.Flags()
	flags.StringVar(&how.from, "from", "", "phase from which the new run starts again")
	flags.StringArrayVar(&f.inputs, "input", nil, flagTexts["input"])
	flags.BoolVar(&f.store.take, "take", false, "takeover of a run whose process, on another machine or in a container, is gone")
	flags.BoolVar(&how.changes, "with-changes", false, "new run with the present files of the cascade")
	flags.StringVar(&f.runID, "run-id", "", flagTexts["run-id"])
	return cmd
}

// A resumption says what is to be different in a run that is gone on with.
type resumption struct {
	from    string // everything from this phase on is done anew
	changes bool   // with the files of the cascade as they are now
	input   map[string]any
}

func (c *Command) resumeRun(ctx context.Context, id string, how resumption, f runFlags) (err error) {
	if how.input, err = c.inputs("", f.inputs); err != nil { // before the directory changes
		return err
	}
	s, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	defer s.close()
	if s.journal == nil {
		return usage("resume needs the runs that --store keeps")
	}
	run, err := s.journal.Run(ctx, id)
	if err != nil {
		return found(err, id)
	}
	f.restore(run.Start.Settings)
	leave, err := c.enter(run.Start.Settings[settingDir], &f)
	if err != nil {
		return err
	}
	defer leave()
	changed, programs := c.changedFiles(run.Start.Files), run.Start.Changed()
	again := how.from != "" || len(how.input) > 0 || how.changes && (len(changed) > 0 || programs != nil)
	if f.runID != "" && !again {
		return usage("--run-id names a new run: it goes with --from, --input, or --with-changes where a file changed")
	}
	if programs != nil && !how.changes && (again || goesOn(run)) {
		return &exit{exitBroken, fmt.Errorf("run %s: %w, or accept the change in a new run: capstan resume %[1]s --with-changes", oneLine(run.RunID), programs)}
	}
	if !how.changes && (again || goesOn(run)) {
		for _, what := range changed {
			fmt.Fprintf(c.Stderr, "note: %s\nThe run has kept it and goes on with it as it was; --with-changes takes it as it is now.\n", what)
		}
	}
	if again && run.Guest {
		return usage("run %s: %w", oneLine(run.RunID), orders.ErrElsewhere)
	}
	if again {
		return c.runAgain(ctx, s, run, how, f)
	}
	return c.goOn(ctx, s, run, f)
}

// enter goes to the directory that a run was begun in, so that relative names
// mean the same again. Where that is not there any more they must not mean
// something else: an empty directory stands in for it.
func (c *Command) enter(dir string, f *runFlags) (leave func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	gone := os.Chdir(dir)
	if gone == nil {
		return func() {}, nil
	}
	fmt.Fprintln(c.Stderr, "note: the run was begun in a directory that is not there:", gone)
	if !filepath.IsAbs(f.names.root) {
		f.names.root = filepath.Join(dir, f.names.root) // written files must survive the stand-in
	}
	empty, err := os.MkdirTemp("", "capstan-resume-")
	if err == nil {
		err = os.Chdir(empty)
	}
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	return func() { _ = os.Remove(empty) }, nil // unless a program has left something there
}

// began lets the models of a stored run read the scripts that its command line chose.
func (m *models) began(start runner.Start) {
	m.trust(start.Model)
	if root := start.Settings[settingRoot]; root != "" {
		m.scripts.Dirs = append(m.scripts.Dirs, root)
	}
	if len(start.Files) > 0 {
		m.scripts.Dirs = append(m.scripts.Dirs, filepath.Dir(start.Files[0].Name))
	}
}

// goesOn tells of a run that has not ended for good.
func goesOn(run *journal.Run) bool {
	invalid := run.Error != nil && run.Error.Code == runner.Invalid
	return run.Finished == nil || run.Status == runner.Failed && !invalid || run.Status == runner.Cancelled
}

// goOn goes on with the same run.
func (c *Command) goOn(ctx context.Context, s *kit, run *journal.Run, f runFlags) error {
	if err := c.spares(f, "", run.Start.Model, run.Start.Files); err != nil {
		return err
	}
	s.models.began(run.Start)
	r, err := s.runner(c, f, run.Start.Model)
	if err != nil {
		return err
	}
	if goesOn(run) {
		if err := s.answersRest(ctx, r, run, run.Start.Model); err != nil {
			return err
		}
		fmt.Fprintln(c.Stderr, "resuming", oneLine(run.RunID))
	}
	result, err := r.Resume(ctx, run.RunID)
	if result.RunID == "" { // it was not begun
		return found(err, run.RunID)
	}
	s.progress.close(result)
	return c.finish(s, result, err, f.json)
}

// answersRest reports which models of the phases that are still to be done, and of
// what is within them, cannot be asked; whoever goes on with a run asks it first. Of those that have finished, or wait for a person behind their text,
// it is found when a run comes back to them.
func (s *kit) answersRest(ctx context.Context, r *runner.Runner, run *journal.Run, chosen string) error {
	cascade, err := r.Unpack(run.Start.Files)
	if err != nil {
		return nil // the run ends with it
	}
	so, err := s.journal.Result(ctx, run.RunID)
	if err != nil {
		return found(err, run.RunID)
	}
	finished := map[string]bool{}
	for _, p := range so.Phases {
		finished[p.Name] = p.Status == runner.Succeeded || slices.Contains([]string{"degraded", "skipped", runner.Waiting}, p.Status)
	}
	rest := cascade.AskingRest(cascades.Chosen(chosen), func(p *cascades.Phase) bool { return finished[p.Name] })
	return s.models.answer(cascade, rest)
}

// runAgain makes a new run that shares with the old one what is unchanged.
func (c *Command) runAgain(ctx context.Context, s *kit, run *journal.Run, how resumption, f runFlags) error {
	if f.runID == "" {
		f.runID = runner.NewRunID(time.Now())
	}
	s.models.began(run.Start)
	r, err := s.runner(c, f, run.Start.Model, runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.RunStarted { // and was not refused
			fmt.Fprintf(c.Stderr, "run %s shares what is unchanged with %s\n", f.runID, oneLine(run.RunID))
		}
	})))
	if err != nil {
		return err
	}
	var cascade *cascades.Cascade
	if how.changes {
		cascade, err = r.Load(run.Start.Files[0].Name)
	} else {
		cascade, err = r.Unpack(run.Start.Files)
	}
	if err != nil {
		return err
	}
	if err := c.spares(f, "", run.Start.Model, cascade.Files); err != nil {
		return err
	}
	s.progress.knows(cascade)
	if p, _ := cascade.Phase(how.from); how.from != "" && p == nil {
		return usage("--from: %s has no phase %s", cascade.File, how.from)
	}
	input := cascade.Again(run.Start.Input)
	maps.Copy(input, how.input)
	if err := c.ready(ctx, cascade, input, s.models, f, run.Start.Model); err != nil {
		c.noteTexts(cascade, input, err)
		return err
	}
	result, err := r.Run(ctx, cascade, input, runner.WithRunID(f.runID), runner.WithParent(run.RunID, how.from), runner.WithSettings(run.Start.Settings))
	if errors.Is(err, runner.ErrRunExists) {
		return usage("a run is called %s already", f.runID)
	}
	if refused(err) {
		c.noteTexts(cascade, input, err)
	} else {
		s.progress.close(result)
	}
	return c.finish(s, result, err, f.json)
}

// changedFiles tells which of a run's files are not any more what they were.
func (c *Command) changedFiles(files []cascades.File) []string {
	var changed []string
	for _, file := range files {
		now, err := runner.ReadFile(filepath.FromSlash(file.Name))
		switch was := c.clean(string(file.Text)); {
		case err != nil:
			changed = append(changed, fmt.Sprintf("%s cannot be read any more: %v", file.Name, err))
		case c.clean(string(now)) != was: // what is kept has no secrets in it
			changed = append(changed, difference(file.Name, file.Text, now))
		}
	}
	return changed
}
