package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/given"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/schema"
)

type gateFlags struct {
	with   []string
	format string
	model  string
	watch  string
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
  capstan gate capy --format sarif runs/DAVE/*.md
  capstan gate capy --watch runs/DAVE
  some-program | capstan gate no_secrets -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.judge(cmd.Context(), args[0], args[1:], f)
		},
	}
	cmd.Flags().StringArrayVar(&f.with, "with", nil, flagTexts["with"])
	choose(cmd, &f.format, "format", "output format", "text", "json", "junit", "sarif")
	jsonFlag(cmd, &f.format)
	cmd.Flags().Var((*given.Models)(&f.model), "model", flagTexts["model"])
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
			return err // a name that means nothing is told first
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
	if f.watch != "" {
		return g.watch(ctx, f.watch)
	}
	var list []judgement
	for _, file := range files {
		j, err := g.judgeFile(ctx, file)
		if err != nil && len(files) == 1 {
			return err
		}
		if err != nil { // one that cannot be judged does not stop the others
			j = judgement{file: file, validator: name, err: err}
		}
		list = append(list, j)
	}
	if err := gateFormats[f.format](list, c.Stdout); err != nil {
		return &exit{exitBroken, err}
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
	chosen  string            // what is asked
	cascade *cascades.Cascade // that defines the validator; nil for a known one
}

// open finds the validator that the name means.
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

// validator is the validator with its parameters for a file.
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

// judgeFile judges one file. An error is the caller's mistake; that a validator
// could not say is in the judgement.
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
	subject := validators.Subject{Content: content, Attempt: 1}
	subject.Output, _ = schema.Parse([]byte(content))
	verdict, unsaid := g.runner.Judge(ctx, cascade, v, subject)
	return judgement{file, v.Name, verdict, unsaid}, nil
}

// status is the exit status of all judgements together: that one is not valid
// comes before that one of many files could not be judged.
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

// typed reads a text given for a number or a flag as what the parameter is, so
// that min=3 does what min:=3 does.
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

// cutFile takes cascade.yaml:name apart.
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
