package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/query"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/capy"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schedule"
)

// shipped returns the gates of Capstan other than the built-in validators.
func shipped() []validators.Validator {
	return append(schedule.Validators(schedule.Options{}), capy.Validator, capy.Claims, edit.Validator,
		request.Validator, request.PromiseValidator, request.JudgeValidator)
}

// tools returns the built-in tools and those of the shipped gates.
func tools(o tool.Options) []tool.Tool {
	return append(append(tool.Builtins(o), query.Tool()), schedule.Tools(schedule.Options{})...)
}

// withGates makes the shipped gates available to cascades.
func withGates() runner.Option { return runner.WithValidators(shipped()...) }

// named returns the parameters of a gate for a file, including those in the
// file's name. It returns false if the name lacks a required parameter.
func named(gate, file string, with map[string]any) (map[string]any, bool) {
	if gate != "capy" {
		return with, true
	}
	own := map[string]any{}
	if file != "-" {
		own["name"] = filepath.Base(file)
	}
	stage, ok := capy.StageOf(file)
	if ok {
		own["stage"] = stage
	}
	maps.Copy(own, with)
	return own, own["stage"] != nil
}

// addUp joins repeated assignments of sidecars, each with one file or a map of files, into
// a list. The assignments of other parameters stay.
func (c *Command) addUp(list []string) (map[string]any, error) {
	var others []string
	var sidecars []any
	for _, one := range list {
		if name, _, _ := strings.Cut(one, "="); strings.TrimSuffix(name, ":") != "sidecars" {
			others = append(others, one)
			continue
		}
		with, err := c.assignments([]string{one})
		if err != nil {
			return nil, err
		}
		if more, ok := with["sidecars"].([]any); ok {
			sidecars = append(sidecars, more...)
		} else {
			sidecars = append(sidecars, with["sidecars"])
		}
	}
	with, err := c.assignments(others)
	if err == nil && len(sidecars) > 0 {
		with["sidecars"] = sidecars
	}
	return with, err
}

// answer returns the gate's answer in the format of its specification, or nil
// for a gate without such a format.
func answer(j judgement) []byte {
	if j.validator != capy.Validator.Name || j.verdict.Details == nil {
		return nil
	}
	text, err := json.Marshal(j.verdict.Details)
	var report capy.Report
	if err != nil || schema.Unmarshal(text, &report) != nil {
		return nil
	}
	return report.Text()
}
