package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// storeFlags select the store of runs and its settings.
type storeFlags struct {
	store   string
	durable string
	take    bool
	lease   time.Duration // see [journal.Options]
	single  bool
}

func (f *storeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.store, "store", "", flagTexts["store"])
}

func (f *storeFlags) addDurable(cmd *cobra.Command) {
	f.durable = "process"
	choose(cmd, &f.durable, "durable", "failure that finished effects survive, a killed process or power loss", "process", "power")
}

// noStore is the name of the store that keeps no runs.
const noStore = "off"

// checkEnvironment reports a variable of an older version, for a command that
// opens the store.
func (c *Command) checkEnvironment(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Lookup("store") != nil && c.Getenv("CAPSTAN_DB") != "" {
		return usage("CAPSTAN_DB is set, and has no effect: unset it, and set CAPSTAN_STORE instead")
	}
	return nil
}

// storeFile returns the file or the URL of the stored runs: from the flag, from
// CAPSTAN_STORE, or the default file. asked reports whether the caller named it.
func (c *Command) storeFile(f storeFlags) (file string, asked bool, err error) {
	if file = cmp.Or(f.store, c.Getenv("CAPSTAN_STORE")); file != "" {
		return file, true, nil
	}
	dir := c.Getenv("XDG_STATE_HOME")
	if dir == "" || !filepath.IsAbs(dir) {
		home := c.Getenv("HOME")
		switch {
		case runtime.GOOS == "windows":
			dir = c.Getenv("LocalAppData")
		case home != "":
			dir = filepath.Join(home, ".local", "state")
		}
	}
	if dir == "" {
		return "", false, errors.New("no HOME to keep runs under; --store names a file")
	}
	return filepath.Join(dir, "capstan", "capstan.db"), false, nil
}

// store opens the journal for new runs, or returns nil if runs are not stored.
// If the default store cannot be opened, it prints a note and returns nil.
func (c *Command) store(f storeFlags) (*journal.Journal, error) {
	file, asked, err := c.storeFile(f)
	if file == noStore {
		return nil, nil
	}
	var j *journal.Journal
	if err == nil {
		j, err = c.open(file, f, false)
	}
	if err != nil {
		if asked {
			return nil, &exit{exitBroken, err}
		}
		fmt.Fprintf(c.Stderr, "note: this run is not kept, and cannot be resumed: %v\n", err)
		return nil, nil
	}
	return j, nil
}

func (c *Command) open(file string, f storeFlags, readOnly bool) (*journal.Journal, error) {
	return journal.Open(file, journal.Options{ReadOnly: readOnly, Power: f.durable == "power", TakeOver: f.take, Lease: f.lease, Secrets: c.hidden, Single: f.single})
}

// look opens the journal for reading and runs body.
func (c *Command) look(f storeFlags, body func(*journal.Journal) error) error {
	j, err := c.kept(f, true)
	if err != nil {
		return err
	}
	defer j.Close()
	return body(j)
}

// kept opens the journal for reading, or for resuming runs.
func (c *Command) kept(f storeFlags, readOnly bool) (*journal.Journal, error) {
	file, _, err := c.storeFile(f)
	if err != nil {
		return nil, usage("%w", err)
	}
	if file == noStore {
		return nil, usage("--store off keeps no runs")
	}
	var j *journal.Journal
	if _, err = os.Stat(file); postgres.IsAddress(file) || !errors.Is(err, os.ErrNotExist) { // opening would create it
		j, err = c.open(file, f, readOnly)
	}
	switch {
	case err == nil:
		return j, nil
	case errors.Is(err, journal.ErrEmpty) && postgres.IsAddress(file):
		return nil, usage("%w yet: %w", errNoRuns, err)
	case errors.Is(err, journal.ErrEmpty), errors.Is(err, os.ErrNotExist) && !postgres.IsAddress(file): // a missing socket means that the server is not running
		return nil, usage("%w in %s yet; capstan run keeps them there", errNoRuns, file)
	}
	return nil, &exit{exitBroken, err}
}

var errNoRuns = errors.New("no runs are kept")

// jsonFlag makes --json mean --format json.
func jsonFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().BoolFunc("json", flagTexts["json"], func(string) error {
		*format = "json"
		return nil
	})
}

// wholeRun returns the run that a command acts on, by its whole name or last. The
// beginning of a name is refused: when that run is removed, the same command would act
// on another.
func wholeRun(ctx context.Context, j *journal.Journal, id string) (*journal.Run, error) {
	run, err := j.Run(ctx, id)
	if err != nil {
		return nil, found(err, id)
	}
	if run.RunID != id && id != "last" {
		return nil, usage("no run is called %s; did you mean %s?", id, run.RunID)
	}
	return run, nil
}

// found converts a journal's error about a run to an error of the command.
func found(err error, id string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, runner.ErrNoRun):
		if _, several, ok := strings.Cut(err.Error(), runner.ErrNoRun.Error()+": "); ok {
			return usage("no run is called %s: %s", id, several)
		}
		return usage("no run is called %s; capstan runs lists them", id)
	case errors.Is(err, runner.ErrRunBusy):
		return usage("%w", err)
	}
	return &exit{exitBroken, err}
}
