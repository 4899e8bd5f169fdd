package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators/edit"
)

// verifyEdit runs the gate edit_verifier outside a cascade. Parameters name its
// files. It writes the verification and prints its path, the decision and the
// reason. With model=NAME, a model judges the remaining questions with the
// shipped cascade verify_edit.yaml.
func (c *Command) verifyEdit(ctx context.Context, with map[string]any, f gateFlags) error {
	if f.format != "text" && f.format != "json" {
		return usage("--format of edit_verifier must be text or json, not %q", f.format)
	}
	with = maps.Clone(with)
	var name modelflag.Models
	if chosen, _ := with["model"].(string); chosen != "" {
		if err := name.Set(chosen); err != nil {
			return usage("model: %w", err)
		}
	}
	delete(with, "model")
	options, err := edit.NewOptions(with)
	if err != nil {
		return usage("%w", err)
	}
	if options.Judgement == nil && cmp.Or(string(name), f.model) != "" {
		if _, err := edit.Verify(options); err != nil { // reports wrong input before a model call
			return usage("%w", err)
		}
		if options.Judgement, err = c.judgeEdit(ctx, options, cmp.Or(f.model, string(name))); err != nil {
			return err
		}
	}
	report, err := edit.Verify(options)
	var bad *edit.InputError
	switch {
	case errors.As(err, &bad):
		return usage("%w", err)
	case err != nil:
		return &exit{exitBroken, err}
	}
	if _, err := report.Write(options.Root); err != nil {
		return &exit{exitBroken, err}
	}
	if f.format == "json" {
		err = printJSON(c.Stdout, struct {
			Path string `json:"path"`
			edit.Report
		}{report.File(), report})
	} else {
		_, err = fmt.Fprint(c.Stdout, report.Summary())
	}
	if err != nil {
		return &exit{exitBroken, err}
	}
	return editStatus(report.Decision)
}

func editStatus(d edit.Decision) error {
	switch d {
	case edit.Accept:
		return nil
	case edit.Reject:
		return &exit{status: exitNo}
	default:
		return &exit{status: exitWaiting}
	}
}

// judgeEdit returns a model's judgement of the candidate, or nil if the
// computed checks have decided and no model was called.
func (c *Command) judgeEdit(ctx context.Context, o edit.Options, flag string) (any, error) {
	p := c.progress(false)
	r, cascade, err := c.shippedCascade("verify_edit.yaml", flag, runner.WithSink(p))
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(cmp.Or(o.Root, "."))
	if err != nil {
		return nil, usage("root: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, usage("root: %w", err)
	}
	defer root.Close()
	input := map[string]any{"active_part": string(o.ActivePart), "candidate_file": o.Candidate.Path, "ward": true}
	for key, file := range map[string]edit.File{
		"source": o.Source, "status": o.Status, "direction": o.Direction, "candidate": o.Candidate, "metadata": o.Metadata,
	} {
		input[key] = file.Content
		if file.Content == nil {
			path := file.Path
			if filepath.IsAbs(path) {
				if path, err = filepath.Rel(dir, path); err != nil {
					return nil, usage("%s: %w", key, err)
				}
			}
			text, err := root.ReadFile(path)
			if err != nil {
				return nil, usage("%s: %w", key, err)
			}
			input[key] = string(text)
		}
	}
	result, err := r.Run(ctx, cascade, input)
	p.close(result)
	var failure *engine.Error
	if errors.As(err, &failure) && failure.Code != engine.Blocked && failure.Code != engine.Waiting {
		return nil, &exit{status(failure), failure}
	}
	if batches, ok := result.Outputs["more"].([]any); ok && len(batches) > 0 {
		return append([]any{result.Outputs["judge"]}, batches...), nil
	}
	return result.Outputs["judge"], nil
}
