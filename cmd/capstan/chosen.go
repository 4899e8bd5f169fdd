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
	"github.com/seed61713e19/capstan/internal/modelflag"
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

// chosen returns the models that the operator chose for a cascade file, by flag
// and environment. From now on, the scripts among them and those in the folder
// of the cascade may be read.
func (m *models) chosen(flag, cascade string) string {
	chosen := m.names(flag, cascade)
	m.trust(chosen)
	m.scripts.Dirs = append(m.scripts.Dirs, filepath.Dir(cascade))
	return chosen
}

// names returns [modelflag.Models.Chosen] for the flag and the environment. It
// replaces "last" in replay:last by the name of the run, so that a resumed run
// uses the same one.
func (m *models) names(flag, cascade string) string {
	return modelflag.Models(flag).Chosen(m.getenv("CAPSTAN_MODEL"), cascade, func(name string) string {
		if id, answers := strings.CutPrefix(name, "replay:"); answers && m.journal != nil {
			if run, err := m.journal.Run(context.Background(), id); err == nil { // later use reports the error
				return "replay:" + run.RunID
			}
		}
		return name
	})
}

// unnamed prints a note for each model that --model replaces although the
// cascade does not name it.
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

// ready returns the errors that a run would only meet later: a phase without a
// model, a missing key, an unreadable script, or a cost budget without prices.
func (m *models) ready(c *cascades.Cascade, chosen string) error {
	return m.answer(c, c.Asking(cascades.Chosen(chosen), nil))
}

// answer returns an error for each model of the list that cannot be called.
func (m *models) answer(c *cascades.Cascade, list []cascades.Asking) error {
	of := m.Of(c.EveryProvider())
	var wrong []error
	unpriced := m.unpriced(c, list)
	checked := map[string]bool{}
	for _, a := range list {
		if a.Name == "" {
			return usage("no model: give --model or CAPSTAN_MODEL, or model: in %s", cmp.Or(c.File, "a cascade"))
		}
		if checked[a.Name] {
			continue
		}
		checked[a.Name] = true
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

// unpriced returns the reasons why max_cost_usd cannot be enforced: the called
// models of unknown price.
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

// notePrices prints the errors about prices that [models.ready] would return,
// for a command that calls no model.
func (c *Command) notePrices(cascade *cascades.Cascade, flag string) {
	m := newModels(c.Getenv, false, nil, c.names.root)
	for _, wrong := range m.unpriced(cascade, cascade.Asking(cascades.Chosen(m.chosen(flag, cascade.File)), nil)) {
		fmt.Fprintf(c.Stderr, "note: %v; capstan run refuses it\n", wrong)
	}
}
