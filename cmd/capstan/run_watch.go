package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// watchPause is the time between two looks at the files of a cascade.
const watchPause = 300 * time.Millisecond

// A rewatch runs a cascade again whenever one of its files changes.
type rewatch struct {
	*Command
	file  string
	flags runFlags
	files map[string]stamp // all files that the cascade reads or has read, at the last look
	run   string           // the last stored run; "" before the first

	scripts []string // of the models
}

// watchCascade runs a cascade, and runs it again after each change, until ctx ends.
func (c *Command) watchCascade(ctx context.Context, file string, f runFlags) (err error) {
	if f.receipt != "" || f.runID != "" || f.json || f.events != "" {
		return usage("--watch makes many runs for a person: it does not go with --receipt, --run-id, --events or --json")
	}
	if f.store.store == noStore {
		return usage("--watch needs the stored runs: it shares the unchanged calls of the run before")
	}
	c.names = f.names
	w := &rewatch{Command: c, file: file, flags: f, files: map[string]stamp{file: stampOf(file)}}
	if len(f.inputs) > 0 || f.inputFile != "" {
		if w.flags.given, err = c.inputs(f.inputFile, f.inputs); err != nil {
			return err
		}
	}
	changed := []string(nil)
	for {
		id, err := w.again(ctx, changed)
		if err != nil {
			c.ended(withoutStep(err))
		}
		if err := w.compare(ctx, id); err != nil {
			return err
		}
		if changed, err = w.wait(ctx); err != nil {
			return &exit{status: exitInterrupted}
		}
		fmt.Fprintf(c.Stderr, "\nchanged: %s\n", oneLine(strings.Join(changed, ", ")))
	}
}

// withoutStep returns an error without its next step: the watch makes it.
func withoutStep(err error) error {
	if next, ok := errors.AsType[advised](err); ok {
		next.step = nextsteps.Step{}
		return &exit{exitNo, next}
	}
	return err
}

// again runs the cascade and returns the name of the run.
func (w *rewatch) again(ctx context.Context, changed []string) (id string, err error) {
	cascade, err := w.read()
	if err != nil {
		return "", err
	}
	if w.flags.given == nil {
		if err := w.lastInput(ctx, cascade); err != nil {
			return "", err
		}
	}
	f := w.flags
	f.runID, f.parent = runner.NewRunID(time.Now()), w.run
	if slices.ContainsFunc(changed, func(name string) bool { return slices.Contains(w.scripts, name) }) {
		f.parent = "" // the changed file contains the replies of the model
	}
	f.rerun = w.run != ""
	return f.runID, w.runCascade(ctx, w.file, f)
}

// read loads the cascade and adds the files that it reads to those that are watched.
func (w *rewatch) read() (*cascades.Cascade, error) {
	r, err := w.reader()
	if err != nil {
		return nil, err
	}
	cascade, err := r.Load(w.file)
	if wrong, ok := errors.AsType[syntax.Diagnostics](err); ok {
		for _, d := range wrong {
			w.add(d.File)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, f := range cascade.Files {
		w.add(filepath.FromSlash(f.Name))
	}
	for _, p := range cascade.Deciding.Programs {
		for _, word := range pins.Words(p.Argv, p.Subject) {
			name := word.Text
			if !filepath.IsAbs(name) {
				name = filepath.Join(p.Dir, name)
			}
			if word.Whole {
				w.add(name)
			}
		}
	}
	for _, name := range cascade.Models(cascades.Chosen(newModels(w.Getenv, false, nil, w.flags.names.root).names(w.flags.model, w.file))) {
		if script, ok := strings.CutPrefix(name, "scripted:"); ok {
			w.add(script)
			w.scripts = append(w.scripts, script)
		}
	}
	return cascade, nil
}

// add begins to watch a file. A word of a command that names no file is not watched.
func (w *rewatch) add(name string) {
	if _, known := w.files[name]; !known && stampOf(name) != (stamp{}) {
		w.files[name] = stampOf(name)
	}
}

// stampOf returns the size and the time of a regular file, or the zero stamp.
func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// lastInput returns the input of the newest stored run of the cascade.
func (w *rewatch) lastInput(ctx context.Context, cascade *cascades.Cascade) error {
	j, err := w.openStored(w.flags.store, true)
	if errors.Is(err, errNoRuns) {
		return nil
	}
	if err != nil {
		return err
	}
	defer j.Close()
	list, err := j.Runs(ctx, journal.Filter{Cascade: cascade.ID, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	run, err := j.Run(ctx, list[0].RunID)
	if err != nil || len(run.Start.Input) == 0 {
		return err
	}
	fmt.Fprintf(w.Stderr, "input of run %s\n", oneLine(run.RunID))
	w.flags.given = cascade.Again(run.Start.Input)
	return nil
}

// wait returns the names of the files that have changed, once two looks find
// the same files.
func (w *rewatch) wait(ctx context.Context) ([]string, error) {
	ticks := time.NewTicker(watchPause)
	defer ticks.Stop()
	var before map[string]stamp
	for {
		now := map[string]stamp{}
		var changed []string
		for _, name := range slices.Sorted(maps.Keys(w.files)) {
			if now[name] = stampOf(name); now[name] != w.files[name] {
				changed = append(changed, name)
			}
		}
		if len(changed) > 0 && maps.Equal(now, before) {
			w.files = now
			return changed, nil
		}
		before = now
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
