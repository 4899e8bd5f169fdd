package main

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// described is the entry of a validator or tool in a list.
type described struct {
	Name        string         `json:"name"`
	Kind        string         `json:"kind"`
	Description string         `json:"description"`
	Criteria    string         `json:"criteria,omitempty"` // of a judge
	Effect      tool.Effect    `json:"effect,omitempty"`   // of a tool
	Parameters  map[string]any `json:"parameters,omitempty"`
	params      func() map[string]any
}

func (c *Command) validators() *cobra.Command {
	return c.described("validators [NAME]", "List validators, or print the parameters of one",
		"  capstan list validators\n  capstan list validators word_count", allValidators)
}

func allValidators() (out []described) {
	for _, v := range builtins.Default().With(shipped()...).List() {
		out = append(out, described{Name: v.Name, Kind: v.Kind(), Description: v.Description, Criteria: v.Criteria, params: v.Params})
	}
	return out
}

func (c *Command) tools() *cobra.Command {
	return c.described("tools [NAME]", "List tools, or print the parameters of one",
		"  capstan list tools\n  capstan list tools http_get", allTools)
}

func allTools() (out []described) {
	for _, t := range append(tools(tool.Options{}), cascades.EngineTools()...) {
		out = append(out, described{Name: t.Name, Kind: "tool", Effect: t.Effect, Description: t.Description, params: t.Params})
	}
	return out
}

func (c *Command) described(use, short, example string, all func() []described) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     use,
		Short:   short,
		Example: example,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return c.listed(all(), args[0])
			}
			if asJSON {
				list := all()
				for i := range list {
					list[i].Parameters = list[i].params()
				}
				return printJSON(c.Stdout, list)
			}
			w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
			for _, d := range all() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", d.Name, cmp.Or(string(d.Effect), d.Kind), d.Description)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

func (c *Command) listed(all []described, name string) error {
	for _, d := range all {
		if d.Name == name {
			d.Parameters = d.params()
			return printJSON(c.Stdout, d)
		}
	}
	return usage("nothing is called %q%s", name, meant(name, namesOf(all)))
}

func namesOf(all []described) (names []string) {
	for _, d := range all {
		names = append(names, d.Name)
	}
	return names
}
