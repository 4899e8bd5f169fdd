package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the maximum length of a line of help.
const helpWidth = 100

// exitAnnotation is the key of the exit statuses that the help of a command lists.
const exitAnnotation = "exit"

// exitStatus annotates a command with its exit statuses.
func exitStatus(text string) map[string]string { return map[string]string{exitAnnotation: text} }

// rootHelp is the help of capstan above and below the list of commands.
const (
	rootStart = `Capstan runs cascades: phases of model calls whose texts must pass validators before
anything downstream may see them.

Start with a first cascade. It needs no key:
  capstan init reviews && cd reviews
  capstan run review_document.yaml --model scripted --input document=@document.md
  capstan show last --attempts

Usage:
  capstan COMMAND [flags]
`
	rootExamples = `
Examples:
  capstan run post.yaml --model gpt-5-mini --input topic=owls
  capstan gate word_count --with min=300 post.md
  capstan measure stats post.yaml

Exit status: 0 succeeded, 1 a gate rejected a text, 2 usage or an invalid file, 3 an error,
4 waiting for a person, 5 over budget, 130 interrupted.

Run "capstan COMMAND --help" for the flags and examples of a command.
`
)

// helps makes root and the commands below it print our help.
func (c *Command) helps(root *cobra.Command, groups []group) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		text := commandHelp(cmd)
		if cmd == root {
			text = rootText(root, groups)
		}
		_, _ = io.WriteString(cmd.OutOrStdout(), text) // [Command.Run] reports a failed write
	})
}

// rootText lists the commands in groups, in the order of the work.
func rootText(root *cobra.Command, groups []group) string {
	shorts := map[string]string{}
	for _, cmd := range root.Commands() {
		shorts[cmd.Name()] = cmd.Short
	}
	var b strings.Builder
	b.WriteString(rootStart)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s\n", g.title)
		for _, v := range g.verbs {
			fmt.Fprintf(&b, "  %-17s %s\n", v.name, shorts[v.name])
		}
	}
	fmt.Fprintf(&b, "  %-17s %s\n", "completion", shorts["completion"])
	b.WriteString(rootExamples)
	return b.String()
}

// commandHelp is the help of a command below root.
func commandHelp(cmd *cobra.Command) string {
	var b strings.Builder
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n", text)
	flags := cmd.LocalFlags()
	own := false // if a group has no flags but --help, it has no action of its own
	flags.VisitAll(func(f *pflag.Flag) { own = own || f.Name != "help" })
	if own || !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-17s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
	if flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags.FlagUsagesWrapped(helpWidth))
	}
	if exits := cmd.Annotations[exitAnnotation]; exits != "" {
		fmt.Fprintf(&b, "\nExit status: %s.\n", exits)
	}
	return b.String()
}
