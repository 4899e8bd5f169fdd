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
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// The settings that a run stores from its command line.
const (
	settingDir       = "dir" // the working directory, for relative names
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
		Long: `Resume a run without repeating finished steps. RUN is the whole name of a run, or last.
The run uses its stored cascade, and stops if a program of the cascade has changed.
--with-changes, --from and --input create a new run, which reuses every call with an
identical request.`,
		Example: `  capstan resume last
  capstan resume 20261120-215010-4f2a --from polish
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

// A resumption describes how a resumed run differs from the stored one.
type resumption struct {
	from    string // the phase from which nothing is shared
	only    bool   // the run ends after the phase from
	changes bool   // uses the current files of the cascade
	file    string // of the cascade, if changes is set; default: the run's
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
	run, err := wholeRun(ctx, s.journal, id)
	if err != nil {
		return err
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
	if programs != nil && !how.changes && (again || resumable(run)) {
		return &exit{exitBroken, fmt.Errorf("run %s: %w, or accept the change in a new run: capstan resume %[1]s --with-changes", oneLine(run.RunID), programs)}
	}
	if !how.changes && (again || resumable(run)) {
		for _, what := range changed {
			fmt.Fprintf(c.Stderr, "note: %s\nThe run continues with its stored version; --with-changes uses the present file.\n", what)
		}
	}
	if again && run.External {
		return usage("run %s: %w", oneLine(run.RunID), nextsteps.ErrElsewhere)
	}
	if again {
		how.file = run.Start.Files[0].Name
		return c.runAgain(ctx, s, run, how, f)
	}
	return c.continueRun(ctx, s, run, f)
}

// enter changes to the directory in which a run began, so that relative names
// have the same meaning. If it is missing, an empty directory replaces it, so that
// no name refers to another file.
func (c *Command) enter(dir string, f *runFlags) (leave func(), err error) {
	if dir == "" {
		return func() {}, nil
	}
	failure := os.Chdir(dir)
	if failure == nil {
		return func() {}, nil
	}
	fmt.Fprintln(c.Stderr, "note: the run started in a directory that is missing:", failure)
	if !filepath.IsAbs(f.names.root) {
		f.names.root = filepath.Join(dir, f.names.root) // written files must outlive the empty directory
	}
	empty, err := os.MkdirTemp("", "capstan-resume-")
	if err == nil {
		err = os.Chdir(empty)
	}
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	return func() { _ = os.Remove(empty) }, nil // a program may have written files there
}

// began allows the models of a stored run to read the scripts of its command
// line.
func (m *models) began(start runner.Start) {
	m.trust(start.Model)
	if root := start.Settings[settingRoot]; root != "" {
		m.scripts.Dirs = append(m.scripts.Dirs, root)
	}
	if len(start.Files) > 0 {
		m.scripts.Dirs = append(m.scripts.Dirs, filepath.Dir(start.Files[0].Name))
	}
}

// resumable reports whether a run can be resumed.
func resumable(run *journal.Run) bool {
	invalid := run.Error != nil && run.Error.Code == engine.Invalid
	return run.Finished == nil || run.Status == engine.Failed && !invalid || run.Status == engine.Cancelled
}

// continueRun resumes a run.
func (c *Command) continueRun(ctx context.Context, s *kit, run *journal.Run, f runFlags) error {
	if err := c.spares(f, "", run.Start.Model, run.Start.Files); err != nil {
		return err
	}
	s.models.began(run.Start)
	r, err := s.runner(c, f, run.Start.Model)
	if err != nil {
		return err
	}
	if resumable(run) {
		if err := s.answersRest(ctx, r, run, run.Start.Model); err != nil {
			return err
		}
		fmt.Fprintln(c.Stderr, "resuming", oneLine(run.RunID))
	}
	result, err := r.Resume(ctx, run.RunID)
	if result.RunID == "" { // the run did not begin
		return found(err, run.RunID)
	}
	s.progress.close(result)
	return c.finish(s, result, err, f.json)
}

// answersRest returns an error if a model of the remaining phases cannot be
// called, including the models of nested cascades. It ignores the models of
// finished phases, which a run may visit again, and of phases that wait for a
// person.
func (s *kit) answersRest(ctx context.Context, r *runner.Runner, run *journal.Run, chosen string) error {
	cascade, err := r.Unpack(run.Start.Files)
	if err != nil {
		return nil // the run reports the error
	}
	so, err := s.journal.Result(ctx, run.RunID)
	if err != nil {
		return found(err, run.RunID)
	}
	finished := map[string]bool{}
	for _, p := range so.Phases {
		finished[p.Name] = p.Status == engine.Succeeded || slices.Contains([]string{"degraded", "skipped", engine.Waiting}, p.Status)
	}
	rest := cascade.Asking(cascades.Chosen(chosen), func(p *cascades.Phase) bool {
		return finished[p.Name] || run.Only != "" && p.Name != run.Only
	})
	return s.models.answer(cascade, rest)
}

// runAgain starts a new run that shares the unchanged calls of a stored one.
func (c *Command) runAgain(ctx context.Context, s *kit, run *journal.Run, how resumption, f runFlags) error {
	if f.runID == "" {
		f.runID = runner.NewRunID(time.Now())
	}
	s.models.began(run.Start)
	var options []runner.Option
	if !how.changes || how.only { // otherwise the checks may differ
		options = c.sharing(s, run.RunID)
	}
	chosen := run.Start.Model
	if f.model != "" {
		chosen = s.models.chosen(f.model, how.file)
	}
	r, err := s.runner(c, f, chosen, append(options, runner.WithSink(c.startPrinter(run.RunID, f.runID, how)))...)
	if err != nil {
		return err
	}
	var cascade *cascades.Cascade
	if how.changes {
		cascade, err = c.loaded(r, how.file, f)
	} else {
		cascade, err = r.Unpack(run.Start.Files)
	}
	if err != nil {
		return err
	}
	if err := c.spares(f, "", chosen, cascade.Files); err != nil {
		return err
	}
	s.progress.knows(cascade)
	if how.only {
		if err := checkOnly(ctx, s.journal, run, cascade, how.from); err != nil {
			return err
		}
	}
	if p, _ := cascade.Phase(how.from); how.from != "" && p == nil && !how.only {
		return usage("--from: %s has no phase %s", cascade.File, how.from)
	}
	input := cascade.Again(run.Start.Input)
	maps.Copy(input, how.input)
	if err := c.ready(ctx, cascade, input, s.models, f, chosen); err != nil {
		c.noteTexts(cascade, input, err)
		return err
	}
	origin, settings := runner.WithParent(run.RunID, how.from), run.Start.Settings
	if how.only {
		origin, settings = runner.WithOnly(run.RunID, how.from), f.settings()
	}
	result, err := r.Run(ctx, cascade, input, runner.WithRunID(f.runID), origin, runner.WithSettings(settings))
	if errors.Is(err, runner.ErrRunExists) {
		return usage("run %s exists already: choose another --run-id", f.runID)
	}
	if refused(err) {
		c.noteTexts(cascade, input, err)
	} else {
		s.progress.close(result)
	}
	return c.finish(s, result, err, f.json)
}

// startPrinter returns a sink that prints how the new run id depends on an earlier run.
func (c *Command) startPrinter(earlier, id string, how resumption) event.Sink {
	return event.Func(func(e event.Event) {
		switch {
		case e.Kind != event.RunStarted:
		case how.only:
			fmt.Fprintf(c.Stderr, "run %s runs phase %s of %s\n", id, oneLine(how.from), oneLine(earlier))
		default:
			fmt.Fprintf(c.Stderr, "run %s shares unchanged results with %s\n", id, oneLine(earlier))
		}
	})
}

// changedFiles describes the changes of a run's files since it began.
func (c *Command) changedFiles(files []cascades.File) []string {
	var changed []string
	for _, file := range files {
		now, err := runner.ReadFile(filepath.FromSlash(file.Name))
		switch was := c.clean(string(file.Text)); {
		case err != nil:
			changed = append(changed, fmt.Sprintf("%s cannot be read any more: %v", file.Name, err))
		case c.clean(string(now)) != was: // the stored file has no secrets
			changed = append(changed, difference(file.Name, file.Text, now))
		}
	}
	return changed
}
