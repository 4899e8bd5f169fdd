package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
)

// settingPins is the setting of a run that stores the digests of deciding files
// outside the journal.
const settingPins = "pins"

// pin finds the files that decide a run of the cascade and takes their digests.
func (r *Runner) pin(c *cascades.Cascade) (*pins.Set, error) {
	o := pins.Options{Root: r.root, Measured: c.Deciding.Measured, Protect: c.Deciding.Protect}
	for _, f := range c.Files {
		o.Files = append(o.Files, f.Name)
	}
	for _, p := range c.Deciding.Programs {
		words := pins.Words(p.Argv, p.Subject)
		o.Programs = append(o.Programs, pins.Program{Label: p.What, Argv: p.Argv, Dir: p.Dir, Words: words, Pinned: p.Pinned})
	}
	return pins.New(o)
}

// Hosts returns a function that makes hosts of single effects, for a worker to which
// the effects of a run travel. The worker pins the cascade's files now: no digests
// travel with the run.
func (r *Runner) Hosts(c *cascades.Cascade) func(context.Context) engine.Host {
	set, err := r.pin(c)
	if err != nil {
		set = pins.Broken(err)
	}
	r = r.Provide(c)
	return func(ctx context.Context) engine.Host { return r.Host(pins.With(ctx, set)) }
}

// begin pins the files that decide a new run and notes their digests, and those of the
// gates, in its settings.
func (r *Runner) begin(c *cascades.Cascade, s *Start) (*pins.Set, error) {
	set, err := r.pin(c)
	if err != nil {
		return nil, err
	}
	s.Settings = notePins(set, s.Settings)
	if s.gates == nil && !c.RunsPrograms() {
		return set, nil
	}
	gates, err := c.Gates(cascades.Chosen(s.Model), ReadFile)
	if err != nil && s.gates == nil {
		return set, nil // the run has no receipt, which is no reason to stop it
	}
	if err == nil {
		err = set.Changed() // the gates' digests are then those of the pinned files
	}
	if err != nil {
		return nil, err
	}
	if s.gates != nil {
		s.gates(gates)
	}
	s.Settings = noteGates(gates, s.Settings)
	return set, nil
}

// notePins returns the settings of a run with the digests of its pinned files.
func notePins(set *pins.Set, settings map[string]string) map[string]string {
	noted := map[string]string{}
	maps.Copy(noted, settings)
	delete(noted, settingPins) // from a run that this one shares with
	if list := set.Pins(); len(list) > 0 {
		text, _ := json.Marshal(list) // cannot fail: strings only
		noted[settingPins] = string(text)
	}
	return noted
}

// pins returns the pins of an earlier start of the run.
func (s Start) pins() (list []pins.Pin, err error) {
	if noted := s.Settings[settingPins]; noted != "" {
		err = schema.Unmarshal([]byte(noted), &list)
	}
	return list, err
}

// Changed returns an error if a program of the run, or a file that protect
// names, has changed since the run began. [Runner.Resume] then stops the run. A
// new run accepts the change.
func (s Start) Changed() error {
	list, err := s.pins()
	if err != nil {
		return err
	}
	return pins.Compare(list)
}

// SamePrograms reports whether two runs pinned the same files with the same
// digests. Verdicts are valid only for the same programs.
func (s Start) SamePrograms(other Start) bool {
	return s.Settings[settingPins] == other.Settings[settingPins]
}

// repin pins the files of a resumed run, with the digests from its beginning.
func (r *Runner) repin(c *cascades.Cascade, s Start) (*pins.Set, error) {
	set, err := r.pin(c)
	if err != nil {
		return nil, err
	}
	list, err := s.pins()
	if err != nil {
		return nil, err
	}
	set.Adopt(list)
	if err := set.Changed(); err != nil {
		return nil, fmt.Errorf("%w, or accept the change in a new run: capstan resume %s --with-changes", err, s.RunID)
	}
	return set, nil
}
