package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators/schema"
)

// files are those that flags name.
func (c *Command) files() given.Files { return given.Files{Stdin: c.piped} }

// assignments are what a flag assigns, each time that it is written.
func (c *Command) assignments(list []string) (map[string]any, error) {
	return callers(c.files().Assignments(list))
}

// inputs gives a run's input.
func (c *Command) inputs(file string, list []string) (map[string]any, error) {
	return callers(c.files().Inputs(file, list))
}

// callers is what the caller gave, or what is wrong with it.
func callers(values map[string]any, err error) (map[string]any, error) {
	if err != nil {
		return nil, usage("%w", err)
	}
	return values, nil
}

// noteTexts tells of each input that is refused as a text, and would be right as the
// JSON that it is.
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
