package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/inputs"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
)

// files are those that flags name.
func (c *Command) files() inputs.Files { return inputs.Files{Stdin: c.piped} }

// assignments are the values of a flag that may be repeated.
func (c *Command) assignments(list []string) (map[string]any, error) {
	return callers(c.files().Assignments(list))
}

// inputs gives a run's input.
func (c *Command) inputs(file string, list []string) (map[string]any, error) {
	return callers(c.files().Inputs(file, list))
}

// callers returns the values of the caller, or a usage error.
func callers(values map[string]any, err error) (map[string]any, error) {
	if err != nil {
		return nil, usage("%w", err)
	}
	return values, nil
}

// noteTexts prints a note for each input that is rejected as a text and would
// be valid as JSON.
func (c *Command) noteTexts(cascade *cascades.Cascade, input map[string]any, refusal error) {
	var wrong cascades.InputErrors
	errors.As(refusal, &wrong)
	for _, in := range cascade.Inputs {
		text, ok := input[in.Name].(string)
		if !ok || len(text) > 1000 || !slices.ContainsFunc(wrong, func(e cascades.InputError) bool { return e.Name == in.Name }) {
			continue
		}
		if value, err := schema.Parse([]byte(text)); err == nil && in.Check(nil, value, true) == nil {
			fmt.Fprintf(c.Stderr, "note: %s=%s is a text: %[1]s:=%[2]s gives it as JSON\n", in.Name, reports.VisibleLine(text))
		}
	}
}
