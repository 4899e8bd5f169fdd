package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/given"
)

// apart separates the default model of the flag from the lines that replace models.
func apart(flag string) (first, replaced string) {
	var lines []string
	for line := range strings.SplitSeq(flag, "\n") {
		if line != "" && cascades.Chosen(line).Default() == "" {
			lines = append(lines, line)
		}
	}
	return cascades.Chosen(flag).Default(), strings.Join(lines, "\n")
}

// chosen returns the models that the flag and the environment of an operator choose for
// the cascade in a file that the operator named. The scripts among them, and those in the
// folder of the cascade, may be read from now on.
func (m *models) chosen(flag, cascade string) string {
	chosen := m.names(flag, cascade)
	m.trust(chosen)
	m.scripts.Dirs = append(m.scripts.Dirs, filepath.Dir(cascade))
	return chosen
}

// names is [given.Models.Chosen] for the flag and the environment. It replaces "last" in
// replay:last by the name of the run, for a resumed run must ask the same run again.
func (m *models) names(flag, cascade string) string {
	return given.Models(flag).Chosen(m.getenv("CAPSTAN_MODEL"), cascade, func(name string) string {
		if id, answers := strings.CutPrefix(name, "replay:"); answers && m.journal != nil {
			if run, err := m.journal.Run(context.Background(), id); err == nil { // else who asks it says what is wrong
				return "replay:" + run.RunID
			}
		}
		return name
	})
}

// unnamed tells what --model gives another model for and the cascade does not name.
func (c *Command) unnamed(cascade *cascades.Cascade, flag string) {
	names := cascade.Models("")
	for line := range strings.SplitSeq(flag, "\n") {
		old, _, _ := strings.Cut(line, "=")
		if line != "" && old != "*" && cascades.Chosen(line).Default() == "" && !slices.Contains(names, old) {
			fmt.Fprintf(c.Stderr, "note: --model %s: %s names no model %s%s\n", line, cascade.File, old, meant(old, names))
		}
	}
}

// writable adds to the error of a missing script the command that writes one.
func writable(err error, name, cascade string) error {
	script, scripted := strings.CutPrefix(name, "scripted:")
	if !scripted || !errors.Is(err, fs.ErrNotExist) || cascade == "" {
		return err
	}
	return fmt.Errorf("%w; to write one: capstan script %s > %s", err, cascade, script)
}

// ready reports what would only be found in the middle of a run: a phase
// without a model, a key that is missing, a script that cannot be read, a cost
// budget that nothing can be held against.
func (m *models) ready(c *cascades.Cascade, chosen string) error {
	return m.answer(c, c.Asking(cascades.Chosen(chosen)))
}

// answer reports which of those who are asked cannot be.
func (m *models) answer(c *cascades.Cascade, list []cascades.Asking) error {
	of := m.Of(c.EveryProvider())
	var wrong []error
	unpriced := m.unpriced(c, list)
	told := map[string]bool{}
	for _, a := range list {
		if a.Name == "" {
			return usage("no model: give --model or CAPSTAN_MODEL, or model: in %s", cmp.Or(c.File, "a cascade"))
		}
		if told[a.Name] {
			continue
		}
		told[a.Name] = true
		if err := of.Ready(a.Name); err != nil {
			err = writable(err, a.Name, c.File)
			where := a.Role
			if a.Phase != nil {
				where = "phase " + a.Phase.Name
			}
			wrong = append(wrong, fmt.Errorf("%s: %w", where, err))
		}
	}
	wrong = append(wrong, unpriced...)
	if len(wrong) > 0 {
		return usage("%w", errors.Join(wrong...))
	}
	return nil
}

// unpriced returns why max_cost_usd cannot be kept: the models of unknown price among
// those that are asked.
func (m *models) unpriced(c *cascades.Cascade, list []cascades.Asking) (wrong []error) {
	if c.Budget.MaxCostUSD == 0 {
		return nil
	}
	of := m.Of(c.EveryProvider())
	reported := map[string]bool{"": true}
	for _, a := range list {
		if !reported[a.Name] && !of.Priced(a.Name) {
			wrong = append(wrong, fmt.Errorf("budget: max_cost_usd cannot be kept: the price of model %s is not known", a.Name))
		}
		reported[a.Name] = true
	}
	return wrong
}

// notePrices prints what [models.ready] would refuse about prices, for a command that
// asks no model.
func (c *Command) notePrices(cascade *cascades.Cascade, flag string) {
	m := newModels(c.Getenv, false, nil, c.names.root)
	for _, wrong := range m.unpriced(cascade, cascade.Asking(cascades.Chosen(m.chosen(flag, cascade.File)))) {
		fmt.Fprintf(c.Stderr, "note: %v; capstan run refuses it\n", wrong)
	}
}
