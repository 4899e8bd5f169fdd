package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner/journal"
)

// maxCompleted is the maximum number of runs that completion offers.
const maxCompleted = 50

// completes adds shell completion: the first argument by its word in the usage,
// a choice by its words, and phases and inputs by the cascade or run of the
// first argument. Errors are ignored.
func (c *Command) completes(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		c.completes(sub)
		words := strings.Fields(sub.Use)
		if sub.ValidArgsFunction == nil && len(sub.ValidArgs) == 0 && len(words) > 1 {
			sub.ValidArgsFunction = c.argument(sub.Name(), words[1])
		}
		flags := map[string]cobra.CompletionFunc{
			"input":  c.ofCascade(inputNames, cobra.ShellCompDirectiveNoSpace),
			"phase":  c.ofCascade(phaseNames, 0),
			"status": cobra.FixedCompletions(nextsteps.Statuses, cobra.ShellCompDirectiveNoFileComp),
		}
		sub.Flags().VisitAll(func(f *pflag.Flag) {
			if one, ok := f.Value.(choice); ok {
				flags[f.Name] = cobra.FixedCompletions(one.words, cobra.ShellCompDirectiveNoFileComp)
			}
		})
		if sub.Name() == "resume" {
			flags["from"] = flags["phase"]
		}
		for name, complete := range flags {
			if f := sub.Flags().Lookup(name); f != nil && f.Value.Type() != "int" {
				_ = sub.RegisterFlagCompletionFunc(name, complete) // a second registration is an error
			}
		}
	}
}

func phaseNames(cascade *cascades.Cascade) []string {
	var names []string
	for _, p := range cascade.EveryPhase() {
		names = append(names, p.Name)
	}
	return names
}

func inputNames(cascade *cascades.Cascade) []string {
	var names []string
	for _, in := range cascade.Inputs {
		name := in.Name + "="
		if in.Description != "" {
			name += "\t" + oneLine(in.Description)
		}
		names = append(names, name)
	}
	return names
}

// ofCascade completes names of the cascade, or of the run, in the first
// argument.
func (c *Command) ofCascade(names func(*cascades.Cascade) []string, more cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cascade, _, err := c.drawn(cmd.Context(), args[0], storeOf(cmd))
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cascade), cobra.ShellCompDirectiveNoFileComp | more
	}
}

// storeOf returns the store flags of a command.
func storeOf(cmd *cobra.Command) (f storeFlags) {
	if flag := cmd.Flags().Lookup("store"); flag != nil {
		f.store = flag.Value.String()
	}
	return f
}

func (c *Command) argument(verb, word string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) > 0:
			return nil, cobra.ShellCompDirectiveDefault
		case word == "RUN":
			return c.newest(cmd), cobra.ShellCompDirectiveNoFileComp
		case strings.HasSuffix(word, "|RUN"):
			return c.newest(cmd), cobra.ShellCompDirectiveDefault
		case verb == "validators":
			return namesOf(allValidators()), cobra.ShellCompDirectiveNoFileComp
		case verb == "gate":
			return namesOf(allValidators()), cobra.ShellCompDirectiveDefault
		case verb == "tools":
			return namesOf(allTools()), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// newest returns the names of the newest runs in the store of the flags.
func (c *Command) newest(cmd *cobra.Command) []string {
	names := []string{"last"}
	j, err := c.openStored(storeOf(cmd), true)
	if err != nil {
		return names
	}
	defer j.Close()
	list, err := j.Runs(cmd.Context(), journal.Filter{Limit: maxCompleted})
	if err != nil {
		return names
	}
	for _, run := range list {
		names = append(names, oneLine(run.RunID)+"\t"+oneLine(run.CascadeID)+" "+run.Status)
	}
	return names
}
