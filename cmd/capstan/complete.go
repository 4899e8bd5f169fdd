package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// maxCompleted is how many of the newest runs a shell is offered.
const maxCompleted = 50

// completes has shells complete the first argument of each verb by the word that
// its usage has for it, and --format by what its help says it may be. Nothing is
// told of what goes wrong meanwhile.
func (c *Command) completes(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		c.completes(sub)
		words := strings.Fields(sub.Use)
		if sub.ValidArgsFunction == nil && len(sub.ValidArgs) == 0 && len(words) > 1 {
			sub.ValidArgsFunction = c.argument(sub.Name(), words[1])
		}
		if f := sub.Flags().Lookup("format"); f != nil {
			if err := sub.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats(f.Usage), cobra.ShellCompDirectiveNoFileComp)); err != nil {
				continue // it has one
			}
		}
	}
}

// formats are the words of a help that is a list: text, json or junit.
func formats(help string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(help, " or ", " "), func(r rune) bool { return r == ',' || r == ' ' })
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
			return validators.Default().With(shipped()...).Names(), cobra.ShellCompDirectiveNoFileComp
		case verb == "gate":
			return validators.Default().With(shipped()...).Names(), cobra.ShellCompDirectiveDefault
		case verb == "tools":
			var names []string
			for _, t := range append(tools(tool.Options{}), cascades.EngineTools()...) {
				names = append(names, t.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// newest are the names of the newest runs of the store that the flags name.
func (c *Command) newest(cmd *cobra.Command) []string {
	var f storeFlags
	for name, value := range map[string]*string{"store": &f.store, "db": &f.db} {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			*value = flag.Value.String()
		}
	}
	names := []string{"last"}
	j, err := c.kept(f, true)
	if err != nil {
		return names
	}
	defer j.Close()
	list, err := j.Runs(cmd.Context(), journal.Filter{Limit: maxCompleted})
	if err != nil {
		return names
	}
	for _, run := range list {
		names = append(names, run.RunID+"\t"+run.CascadeID+" "+run.Status)
	}
	return names
}
