package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryVerbHasAnExample holds that --help of every verb shows how it is
// called, by its own name, and that no flag in it is made up.
func TestEveryVerbHasAnExample(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.IsAvailableCommand() || sub.Name() == "help" {
				continue
			}
			visit(sub)
			if sub.HasParent() && strings.Contains(sub.CommandPath(), "completion") {
				continue // cobra's own
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
	root := c.root()
	root.InitDefaultCompletionCmd()
	visit(root)
}
