package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
)

// A modelFlag is what --model says, each time that it is written: a
// [cascades.Chosen].
type modelFlag string

// String gives the lines.
func (f *modelFlag) String() string { return string(*f) }

// Type is what stands behind the flag in help.
func (f *modelFlag) Type() string { return "model" }

// Set takes one more: the last default is the one.
func (f *modelFlag) Set(text string) error {
	old, to, renames := strings.Cut(text, "=")
	scripted := strings.HasPrefix(text, "scripted:") || strings.HasPrefix(text, "replay:")
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return errors.New("a model's name is one line")
	case renames && !scripted && (strings.TrimSpace(old) == "" || strings.TrimSpace(to) == ""):
		return errors.New("want NAME, OLD=NEW or '*=NEW'")
	}
	*f = modelFlag(strings.Trim(text+"\n"+string(*f), "\n"))
	return nil
}

// modelUsage is what help says of --model.
const modelUsage = "NAME, scripted:FILE, replay:RUN: the default model; OLD=NEW, '*=NEW': another one for that, or for all (or CAPSTAN_MODEL)"

// apart takes what is renamed out of the models that may be asked for.
func apart(flags []string) (models []string, renamed string) {
	for _, text := range flags {
		if name := cascades.Chosen(text).Default(); name != "" {
			models = append(models, name)
		} else {
			renamed += text + "\n"
		}
	}
	return models, renamed
}

// chosen gives what is asked in place of what the cascade says: the flag's, else
// the environment's default, and what the flag renames. "scripted" alone is the
// script beside the cascade: post.scripted.yaml for post.yaml. A run that answers has its whole
// name: last is another one when the run that asks it is gone on with.
func (m *models) chosen(flag, cascade string) string {
	whole := func(name string) string {
		if name == "scripted" || name == "scripted:" {
			return "scripted:" + strings.TrimSuffix(cascade, filepath.Ext(cascade)) + ".scripted.yaml"
		}
		if id, answers := strings.CutPrefix(name, "replay:"); answers && m.journal != nil {
			if run, err := m.journal.Run(context.Background(), id); err == nil { // else who asks it says what is wrong
				return "replay:" + run.RunID
			}
		}
		return name
	}
	fallback := cascades.Chosen(m.getenv("CAPSTAN_MODEL"))
	var lines []string
	if name := cmp.Or(cascades.Chosen(flag).Default(), fallback.Default()); name != "" {
		lines = append(lines, whole(name))
	}
	for line := range strings.SplitSeq(flag+"\n"+string(fallback), "\n") {
		old, to, renames := strings.Cut(line, "=")
		if renames && cascades.Chosen(line).Default() == "" {
			lines = append(lines, old+"="+whole(to))
		}
	}
	return strings.Join(slices.Compact(lines), "\n")
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
			where := a.Role
			if a.Phase != nil {
				where = "phase " + a.Phase.Name
			}
			wrong = append(wrong, fmt.Errorf("%s: %w", where, err))
		} else if c.Budget.MaxCostUSD > 0 && !of.Priced(a.Name) {
			wrong = append(wrong, fmt.Errorf("budget: max_cost_usd cannot be kept: the price of model %s is not known", a.Name))
		}
	}
	if len(wrong) > 0 {
		return usage("%w", errors.Join(wrong...))
	}
	return nil
}
