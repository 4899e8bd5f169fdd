package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/inputs"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
)

type gateFlags struct {
	with    []string
	subject inputs.SubjectFlags
	format  string
	model   string
	watch   string
}

func (c *Command) gate() *cobra.Command {
	f := gateFlags{format: "text"}
	cmd := &cobra.Command{
		Use:   "gate NAME FILE...",
		Short: "Check texts with one validator",
		Long: `Check texts with a built-in validator (see capstan list validators) or a validator of a
cascade (cascade.yaml:name). FILE - is standard input. The gate capy takes the stage
from the file name unless --with stage=… sets it. The gate edit_verifier takes its files
as parameters.`,
		Annotations: exitStatus("0 valid, 1 not valid, 2 usage or an unreadable file, 3 no verdict"),
		Example: `  capstan gate word_count --with min=300 post.md
  capstan gate post.yaml:tone --model gpt-5-mini draft.md
  capstan gate post.yaml:keeps_facts --input log=@log.txt --output outline=@outline.json draft.md
  capstan gate capy --format sarif runs/DAVE/*.md
  capstan gate capy --watch runs/DAVE
  some-program | capstan gate no_secrets -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.judge(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.Flags().StringArrayVar(&f.with, "with", nil, flagTexts["with"])
	f.subject.Each(func(list *[]string, name, text string) { cmd.Flags().StringArrayVar(list, name, nil, text) })
	choose(cmd, &f.format, "format", "output format", "text", "json", "junit", "sarif")
	jsonFlag(cmd, &f.format)
	cmd.Flags().Var((*modelflag.Models)(&f.model), "model", flagTexts["model"])
	cmd.Flags().StringVar(&f.watch, "watch", "", "folder whose texts are checked when they appear or change")
	return cmd
}

func (c *Command) judge(ctx context.Context, name string, files []string, f gateFlags) error {
	switch {
	case f.watch != "" && len(files) > 0:
		return usage("--watch takes a directory, and no files beside it")
	case f.watch == "" && len(files) == 0 && name == edit.Validator.Name:
		with, err := c.assignments(f.with)
		if err != nil {
			return err
		}
		return c.verifyEdit(ctx, with, f)
	case f.watch == "" && len(files) == 0:
		if err := (&gatekeeper{Command: c, name: name}).open(f.model, &remote{}); err != nil {
			return err // an unknown name is reported first
		}
		return usage("name a file to judge, or - for standard input")
	}
	with, err := c.addUp(f.with)
	if err != nil {
		return err
	}
	if name == request.Validator.Name && f.watch == "" {
		return c.judgeResponses(with, files, f)
	}
	servers := &remote{}
	defer servers.close(c.Stderr)
	g := &gatekeeper{Command: c, name: name, with: with}
	if err := g.open(f.model, servers); err != nil {
		return err
	}
	if err := g.surround(f); err != nil {
		return err
	}
	if f.watch != "" {
		return g.watch(ctx, f.watch)
	}
	var list []judgement
	for _, file := range files {
		j, err := g.judgeFile(ctx, file)
		if err != nil && len(files) == 1 {
			return err
		}
		if err != nil { // the other files are still judged
			j = judgement{file: file, validator: name, err: err}
		}
		list = append(list, j)
	}
	if err := c.printJudgements(list, f.format); err != nil {
		return err
	}
	return g.status(ctx, list)
}

// A gatekeeper judges files with one validator.
type gatekeeper struct {
	*Command
	name    string
	with    map[string]any
	runner  *runner.Runner
	models  *models
	chosen  string             // the model
	cascade *cascades.Cascade  // defines the validator; nil for a known one
	around  validators.Subject // input, outputs and state for the validator
}

// open finds the validator by its name.
func (g *gatekeeper) open(model string, servers *remote) (err error) {
	g.models = newModels(g.Getenv, false, nil, "")
	file, own, inFile := cutFile(g.name)
	g.chosen = g.models.chosen(model, file)
	g.runner, err = runner.New(withGates(), runner.WithModel(g.models), runner.WithModelName(g.chosen),
		runner.WithTools(tools(tool.Options{})...), runner.WithRemote(servers))
	if err != nil {
		return usage("%w", err)
	}
	if !inFile {
		known, err := g.runner.Known().Validators.Find(g.name)
		if info, missing := os.Stat(g.name); err != nil && missing == nil && info.Mode().IsRegular() {
			return usage("%w; a validator of a file is FILE:NAME", err)
		}
		if err != nil {
			return usage("%w%s; capstan list validators lists them", err, meant(g.name, g.runner.Known().Validators.Names()))
		}
		g.with = typed(g.with, known.Params())
		return nil
	}
	if g.cascade, err = g.runner.Load(file); err != nil {
		return err
	}
	if g.cascade.Validators[own] == nil {
		return usage("%s defines no validator %q%s", file, own, meant(own, slices.Sorted(maps.Keys(g.cascade.Validators))))
	}
	if len(g.with) > 0 {
		return usage("%s has its parameters where it is defined", g.name)
	}
	return nil
}

// surround reads the input, the outputs and the state of the flags. They must
// fit the cascade: its inputs by their schemas, and its phases by their names.
func (g *gatekeeper) surround(f gateFlags) (err error) {
	s := &g.around
	if s.Input, s.Outputs, s.State, err = f.subject.Read(g.files()); err != nil {
		return usage("%w", err)
	}
	if g.cascade == nil {
		return nil
	}
	for name, value := range s.Outputs {
		phase, _ := g.cascade.Phase(name)
		if phase == nil {
			var names []string
			for _, p := range g.cascade.EveryPhase() {
				names = append(names, p.Name)
			}
			return usage("--output: %s has no phase %q%s", g.cascade.File, name, meant(name, names))
		}
		text, isText := value.(string)
		if !isText || phase.OutputSchema == nil {
			continue
		}
		if s.Outputs[name], err = schema.Parse([]byte(text)); err != nil {
			return usage("--output %s: %w; phase %s has JSON as its output", name, err, name)
		}
	}
	wrong := g.cascade.Undeclared(s.Input)
	for _, in := range g.cascade.Inputs {
		if value, given := s.Input[in.Name]; given {
			wrong = append(wrong, in.Check(nil, value, true)...)
		} else if in.HasDefault {
			s.Input[in.Name] = in.Default
		}
	}
	if len(wrong) > 0 {
		return usage("%w", wrong)
	}
	return nil
}

// validator returns the validator with its parameters for a file.
func (g *gatekeeper) validator(file string) (*cascades.Cascade, *cascades.Validator, error) {
	if g.cascade != nil {
		_, own, _ := cutFile(g.name)
		return g.cascade, g.cascade.Validators[own], nil
	}
	with, ok := named(g.name, file, g.with)
	if !ok {
		return nil, nil, usage("%s: the name says no stage: give one, --with stage=BASE_T1", file)
	}
	v, err := cascades.Use(g.name, with, g.runner.Known())
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	return &cascades.Cascade{ID: "gate"}, v, nil
}

// judgeFile judges one file. An error is a mistake of the caller. A validator
// that gave no verdict is a judgement.
func (g *gatekeeper) judgeFile(ctx context.Context, file string) (judgement, error) {
	cascade, v, err := g.validator(file)
	if err != nil {
		return judgement{}, err
	}
	if err := g.models.answer(cascade, cascade.AskingOf(v, cascades.Chosen(g.chosen))); err != nil {
		return judgement{}, err
	}
	content, err := g.files().Text(file)
	if err != nil {
		return judgement{}, usage("%w", err)
	}
	subject := g.around
	subject.Content, subject.Attempt = content, 1
	subject.Output, _ = schema.Parse([]byte(content))
	verdict, unsaid := g.runner.Judge(ctx, cascade, v, subject)
	return judgement{file, v.Name, verdict, unsaid}, nil
}

// status returns the exit status for all judgements. A rejection takes
// precedence over a file without a verdict.
func (g *gatekeeper) status(ctx context.Context, list []judgement) error {
	no := false
	var missed *exit
	for _, j := range list {
		switch {
		case ctx.Err() != nil:
			return &exit{exitInterrupted, context.Cause(ctx)}
		case errors.As(j.err, &missed):
		case j.err != nil:
			return &exit{exitBroken, j.err}
		default:
			no = no || !j.verdict.Valid
		}
	}
	switch {
	case no:
		return &exit{status: exitNo}
	case missed != nil:
		return missed
	}
	return nil
}

// typed converts a text to the type of its parameter, so that min=3 means
// min:=3.
func typed(with, params map[string]any) map[string]any {
	with = maps.Clone(with)
	properties, _ := params["properties"].(map[string]any)
	for name, value := range with {
		text, isText := value.(string)
		property, _ := properties[name].(map[string]any)
		switch property["type"] {
		case "integer", "number", "boolean":
			if v, err := schema.Parse([]byte(text)); isText && err == nil {
				with[name] = v
			}
		}
	}
	return with
}

// cutFile splits cascade.yaml:name.
func cutFile(name string) (file, own string, found bool) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return "", "", false
	}
	for _, ext := range []string{".yaml", ".yml", ".json"} {
		if strings.HasSuffix(name[:i], ext) {
			return name[:i], name[i+1:], true
		}
	}
	return "", "", false
}
