package main

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

type gateFlags struct {
	with   []string
	format string
	model  string
}

func (c *Command) gate() *cobra.Command {
	f := gateFlags{format: "text"}
	cmd := &cobra.Command{
		Use:   "gate NAME FILE|-",
		Short: "Judge one text with one validator",
		Long: `Judge one text with one validator: a built-in one by its name (see capstan
validators), or cascade.yaml:name for one that a cascade file defines.

Exit status: 0 valid, 1 not valid, 2 usage or an unreadable file, 3 no verdict.`,
		Example: `  capstan gate word_count --with min=300 post.md
  capstan gate post.yaml:tone --model gpt-5-mini draft.md
  some-program | capstan gate no_secrets -`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.gateText(cmd.Context(), args[0], args[1], f)
		},
	}
	cmd.Flags().StringArrayVar(&f.with, "with", nil, "a parameter: name=text, name:=JSON or name=@file")
	cmd.Flags().StringVar(&f.format, "format", f.format, "text, json, junit or sarif")
	cmd.Flags().StringVar(&f.model, "model", "", "the model of a judge (or CAPSTAN_MODEL)")
	return cmd
}

func (c *Command) gateText(ctx context.Context, name, file string, f gateFlags) error {
	show, ok := gateFormats[f.format]
	if !ok {
		return usage("--format must be text, json, junit or sarif, not %q", f.format)
	}
	with, err := c.assignments(f.with)
	if err != nil {
		return err
	}
	models, servers := &models{getenv: c.Getenv}, &remote{}
	defer servers.client.Close()
	source, _, _ := strings.Cut(name, ":")
	r, err := runner.New(runner.WithModel(models), runner.WithModelName(models.chosen(f.model, source)),
		runner.WithTools(tool.Builtins(tool.Options{})...), runner.WithRemote(servers))
	if err != nil {
		return usage("%w", err)
	}
	cascade, v, err := c.gateValidator(r, name, with)
	if err != nil {
		return err
	}
	content, err := c.readText(file)
	if err != nil {
		return usage("%w", err)
	}
	subject := validators.Subject{Content: content, Attempt: 1}
	subject.Output, _ = schema.Parse([]byte(content))
	verdict, unsaid := r.Judge(ctx, cascade, v, subject)
	if err := show(judgement{file, v.Name, verdict, unsaid}, c.Stdout); err != nil {
		return &exit{exitBroken, err}
	}
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, unsaid}
	case unsaid != nil:
		return &exit{exitBroken, unsaid}
	case !verdict.Valid:
		return &exit{status: exitNo}
	}
	return nil
}

// gateValidator finds the validator that NAME means. It is read as a cascade
// would read it, so that both take the same parameters.
func (c *Command) gateValidator(r *runner.Runner, name string, with map[string]any) (*cascades.Cascade, *cascades.Validator, error) {
	if file, own, found := cutFile(name); found {
		cascade, err := r.Load(file)
		if err != nil {
			return nil, nil, err
		}
		v, ok := cascade.Validators[own]
		if !ok {
			return nil, nil, usage("%s defines no validator %q", file, own)
		}
		if len(with) > 0 {
			return nil, nil, usage("%s has its parameters where it is defined", name)
		}
		return cascade, v, nil
	}
	if known, err := r.Known().Validators.Find(name); err == nil {
		with = typed(with, known.Params())
	}
	v, err := cascades.Use(name, with, r.Known())
	if err != nil {
		return nil, nil, usage("%w", err)
	}
	return &cascades.Cascade{ID: "gate"}, v, nil
}

// typed reads a text given for a number or a flag as what the parameter is, so
// that min=3 does what min:=3 does.
func typed(with, params map[string]any) map[string]any {
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

var cascadeFile = regexp.MustCompile(`^(.+\.(?:ya?ml|json)):(.+)$`)

func cutFile(name string) (file, own string, found bool) {
	m := cascadeFile.FindStringSubmatch(name)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// A judgement is what a gate said of a file; err says that it could not.
type judgement struct {
	file, validator string
	verdict         validators.Verdict
	err             error
}

var gateFormats = map[string]func(judgement, io.Writer) error{
	"text": judgement.text, "json": judgement.json, "junit": judgement.junit, "sarif": judgement.sarif,
}
