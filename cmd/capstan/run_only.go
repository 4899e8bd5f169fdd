package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// notWithOnly are the flags of run that a run of one phase does not accept.
var notWithOnly = []string{"each", "out", "parallel", "budget", "batch", "watch", "input", "input-file", "receipt", "signing-key", "signer", "pub", "with-texts"}

// runOnly runs one phase in a new run. The input, and the calls of the phases before it,
// are those of a stored run. Without a file, the cascade's file and the settings are those
// of the stored run too.
func (c *Command) runOnly(cmd *cobra.Command, files []string, phase, from string, f runFlags) error {
	if phase == "" || from == "" {
		return usage("--only PHASE and --from-run RUN belong together")
	}
	for _, name := range notWithOnly {
		if cmd.Flags().Changed(name) {
			return usage("--%s does not go with --only: the input and the other outputs are those of run %s", name, from)
		}
	}
	if err := isRunID(f.runID); err != nil {
		return err
	}
	ctx := cmd.Context()
	s, err := c.begin(ctx, f)
	if err != nil {
		return err
	}
	defer s.close()
	if s.journal == nil {
		return usage("--only needs the runs that --store keeps")
	}
	run, err := s.journal.Run(ctx, from)
	if err != nil {
		return found(err, from)
	}
	if run.External {
		return usage("run %s: %w", oneLine(run.RunID), nextsteps.ErrElsewhere)
	}
	file := run.Start.Files[0].Name
	if len(files) > 0 {
		file = files[0]
	} else {
		f.restore(run.Start.Settings)
		leave, err := c.enter(run.Start.Settings[settingDir], &f)
		if err != nil {
			return err
		}
		defer leave()
	}
	return c.runAgain(ctx, s, run, resumption{from: phase, only: true, changes: true, file: file}, f)
}

// checkOnly returns an error if a stored run cannot have the outputs before a phase of the
// cascade.
func checkOnly(ctx context.Context, j *journal.Journal, run *journal.Run, cascade *cascades.Cascade, phase string) error {
	id := oneLine(run.RunID)
	if cascade.ID != run.CascadeID {
		return usage("--only: %s is cascade %s, and run %s is of cascade %s", cascade.File, cascade.ID, id, oneLine(run.CascadeID))
	}
	if p, _ := cascade.Phase(phase); p == nil || cascade.Tries != nil {
		return nil // the runner reports it
	}
	for e, err := range j.Events(ctx, run.RunID, 0, journal.Brief) {
		if err != nil {
			return &exit{exitBroken, err}
		}
		if e.Phase == phase && e.Path.Parent() == "" && (e.Kind == event.PhaseStarted || e.Kind == event.PhaseFinished) {
			return nil
		}
	}
	return usage("--only: run %s did not reach phase %s; its status is %s", id, phase, run.Status)
}
