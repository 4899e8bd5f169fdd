package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/proofs"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func (c *Command) inspect() *cobra.Command {
	asJSON, model := false, ""
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Describe a cascade and its worst case",
		Long: `Describe a cascade: its inputs, phases, gates, tools, models and files, and a command
to run it. Then list the maximum of model calls, validator calls, tokens and cost.
A value without a limit or a price is listed with the key that sets it.`,
		Example: `  capstan inspect post.yaml
  capstan inspect post.yaml --model gpt-5-mini --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			chosen := cascades.Chosen(newModels(c.Getenv, false, nil, c.names.root).chosen(model, args[0]))
			return c.printDescription(args[0], asJSON, func(cascade *cascades.Cascade) texter {
				c.unnamed(cascade, model)
				c.notePrices(cascade, model)
				return inspection{cascade.Describe(), planned{cascade.Plan(chosen, cascade.Priced()), proofs.Of(cascade)}}
			})
		},
	}
	cmd.Flags().Var((*modelflag.Models)(&model), "model", flagTexts["model"])
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	c.names.add(cmd)
	return cmd
}

// An inspection is the description of a cascade with its worst case.
type inspection struct {
	Description cascades.Description `json:"description"`
	Plan        planned              `json:"plan"`
}

// Text returns the description and the plan.
func (i inspection) Text() string {
	text := i.Description.Text() + "\nworst case\n" + i.Plan.Text()
	if len(i.Description.Models) > 0 {
		text += fmt.Sprintf("time limits: a model call ends after %s without an answer and is repeated once; rules.timeout limits an attempt\n",
			strings.TrimSuffix(openai.DefaultTimeout.String(), "0s"))
	}
	return text
}

// planned is a plan with the proof of its writing tools.
type planned struct {
	cascades.Plan
	Proof *proofs.Proof `json:"proof"`
}

// Text returns the plan, and the proof if a tool writes.
func (p planned) Text() string {
	if p.Proof.Writers == 0 && !p.Proof.TooLarge {
		return p.Plan.Text()
	}
	return p.Plan.Text() + p.Proof.Text()
}
