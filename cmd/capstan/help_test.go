package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryVerbHasAnExample checks that the help of every verb has an example
// that names the verb and only existing flags.
func TestEveryVerbHasAnExample(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.IsAvailableCommand() || sub.Name() == "help" {
				continue
			}
			visit(sub)
			if sub.HasParent() && strings.Contains(sub.CommandPath(), "completion") {
				continue // a command of cobra
			}
			if !strings.Contains(sub.Example, sub.CommandPath()) {
				t.Errorf("%s --help has no example", sub.CommandPath())
			}
			for line := range strings.Lines(sub.Example) {
				for _, word := range strings.Fields(line) {
					name, isFlag := strings.CutPrefix(word, "--")
					name, _, _ = strings.Cut(name, "=")
					if isFlag && name != "" && !sub.HasSubCommands() && strings.Contains(line, sub.CommandPath()+" ") && sub.Flags().Lookup(name) == nil {
						t.Errorf("%s --help: %s is no flag: %s", sub.CommandPath(), word, line)
					}
				}
			}
		}
	}
	c := &Command{Getenv: func(string) string { return "" }}
	root := c.root(nil)
	root.InitDefaultCompletionCmd()
	visit(root)
}

// TestVerbNames checks that each verb is created alone, with the name in the
// list of verbs.
func TestVerbNames(t *testing.T) {
	c := &Command{Getenv: func(string) string { return "" }}
	for _, g := range c.verbs() {
		for _, v := range g.verbs {
			if name := v.make().Name(); name != v.name {
				t.Errorf("%s is made for %s", name, v.name)
			}
			if made := c.root([]string{v.name}).Commands(); len(made) != 1 {
				t.Errorf("%s is made with %d others", v.name, len(made)-1)
			}
		}
	}
}

// TestLimitsAreSet checks the default value of --limit in each list.
func TestLimitsAreSet(t *testing.T) {
	c := &Command{}
	for _, verb := range []struct {
		cmd  *cobra.Command
		want string
	}{{c.runs(), "20"}, {c.sql(), "1000"}, {c.label(), "0"}} {
		flag := verb.cmd.Flags().Lookup("limit")
		if flag.DefValue != verb.want || flag.Value.String() != verb.want {
			t.Errorf("%s: --limit is %s, which help tells as %s; want %s", verb.cmd.Name(), flag.Value, flag.DefValue, verb.want)
		}
	}
}
