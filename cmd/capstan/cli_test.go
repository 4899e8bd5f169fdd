package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand returns all commands below root, in the order of the help.
func everyCommand(t *testing.T) []*cobra.Command {
	t.Helper()
	c := &Command{Getenv: func(string) string { return "" }}
	root := c.root(nil)
	var all []*cobra.Command
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		all = append(all, cmd)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	for _, g := range c.verbs() {
		for _, v := range g.verbs {
			cmd, _, err := root.Find([]string{v.name})
			if err != nil {
				t.Fatal(err)
			}
			visit(cmd)
		}
	}
	return all
}

// meaning is the part of a flag's text that must be the same for every command. The
// words that a flag takes may differ.
func meaning(f *pflag.Flag) string {
	text, _, _ := strings.Cut(f.Usage, ": ")
	if _, ok := f.Value.(choice); !ok {
		text = f.Usage
	}
	return strings.TrimSuffix(f.Value.Type(), "func") + ": " + text
}

// differing are flags whose meaning depends on the command: gate --watch takes a folder,
// and --all selects questions or figures.
var differing = []string{"help", "all", "watch"}

// TestFlagOneMeaning compares the text and the type of each flag across all commands.
func TestFlagOneMeaning(t *testing.T) {
	first := map[string]*cobra.Command{}
	means := map[string]string{}
	for _, cmd := range everyCommand(t) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch other, known := means[f.Name]; {
			case slices.Contains(differing, f.Name):
			case f.Usage == "":
				t.Errorf("%s: --%s has no text", cmd.CommandPath(), f.Name)
			case !known:
				first[f.Name], means[f.Name] = cmd, meaning(f)
			case other != meaning(f):
				t.Errorf("--%s of %s is %q, of %s %q", f.Name, first[f.Name].CommandPath(), other, cmd.CommandPath(), meaning(f))
			}
		})
	}
}

var (
	sentenceEnd = regexp.MustCompile(`[.?!](\s|$)`)
	imperative  = regexp.MustCompile(`^[A-Z][a-z]*[^s\W](,| |$)`) // and no "Lists", "Runs"
)

// TestHelpStyle checks the length of the texts and lines of every command's help.
func TestHelpStyle(t *testing.T) {
	for _, cmd := range everyCommand(t) {
		path := cmd.CommandPath()
		if len(cmd.Short) > 60 || !imperative.MatchString(cmd.Short) {
			t.Errorf("%s: Short must be an imperative of at most 60 characters: %q (%d)", path, cmd.Short, len(cmd.Short))
		}
		prose := strings.NewReplacer("cascade.yaml:name", "", "NAME.scripted.yaml", "", "NAME.yaml", "").Replace(cmd.Long)
		if n := len(sentenceEnd.FindAllString(prose, -1)); n > 5 {
			t.Errorf("%s: Long has %d sentences", path, n)
		}
		for line := range strings.Lines(commandHelp(cmd)) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > helpWidth {
				t.Errorf("%s: a line of help has %d characters: %s", path, n, line)
			}
		}
	}
}

// TestRootHelp checks the order of the root's help: what to type first, the groups in
// the order of the work, and three examples.
func TestRootHelp(t *testing.T) {
	c := &Command{Getenv: func(string) string { return "" }}
	text := rootText(c.root(nil), c.verbs())
	at := -1
	for _, want := range []string{
		"capstan init", "Write a cascade:", "Run a cascade:", "Look at stored runs:", "Test and measure:",
		"Check texts without a cascade:", "Examples:", "capstan run", "capstan gate", "capstan measure", "Exit status:",
	} {
		i := strings.Index(text[at+1:], want)
		if i < 0 {
			t.Fatalf("%q is not where it belongs:\n%s", want, text)
		}
		at += i + 1
	}
	for _, g := range c.verbs() {
		for _, v := range g.verbs {
			if !regexp.MustCompile(`(?m)^  ` + v.name + ` +[A-Z]`).MatchString(text) {
				t.Errorf("%s is missing, or has no description", v.name)
			}
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > helpWidth+1 {
			t.Errorf("a line has %d characters: %s", len(line)-1, line)
		}
	}
}

// TestCLIReference compares the reference of the command line with the commands.
// -update writes it.
func TestCLIReference(t *testing.T) {
	const page = "../../docs/reference/cli.md"
	want := cliReference(t)
	if *update {
		if err := os.MkdirAll("../../docs/reference", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s differs from the commands; go test ./cmd/capstan -run TestCLIReference -update writes it", page)
	}
}

func cliReference(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Command line

This page is generated from the commands. ` + "`capstan COMMAND --help`" + ` prints the same text.

Results go to standard output, and everything else goes to standard error. A flag takes
precedence over an environment variable, and an environment variable takes precedence over
a default. ` + "`--input`" + ` and ` + "`--with`" + ` take ` + "`name=text`, `name:=JSON` and `name=@file`" + `. RUN is the name of
a run, the beginning of a name, or ` + "`last`" + `.

| exit status | meaning |
|---|---|
| 0 | succeeded |
| 1 | a gate rejected a text |
| 2 | usage, or an invalid file |
| 3 | an error of a model, a tool, a validator or the store |
| 4 | waiting for a person |
| 5 | over budget |
| 130 | interrupted |

`)
	all := everyCommand(t)
	b.WriteString("| command | purpose |\n|---|---|\n")
	for _, cmd := range all {
		path := cmd.CommandPath()
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", path, strings.ReplaceAll(path, " ", "-"), cmd.Short)
	}
	for _, cmd := range all {
		commandReference(&b, cmd)
	}
	return b.String()
}

// commandReference writes the usage, the description, the flags and the examples of a
// command.
func commandReference(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(b, "%s\n\n```text\n%s\n```\n", codeFlags(text), cmd.UseLine())
	rows := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("\n| flag | type | default | meaning |\n|---|---|---|---|\n")
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name += ", `-" + f.Shorthand + "`"
		}
		value := ""
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
			value = "`" + strings.Trim(f.DefValue, "[]") + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, strings.TrimSuffix(f.Value.Type(), "func"), value, strings.ReplaceAll(f.Usage, "|", `\|`))
	})
	if exits := cmd.Annotations[exitAnnotation]; exits != "" {
		fmt.Fprintf(b, "\nExit status: %s.\n", exits)
	}
	if cmd.HasExample() {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.TrimRight(regexp.MustCompile(`(?m)^  `).ReplaceAllString(cmd.Example, ""), "\n"))
	}
}

var flagWord = regexp.MustCompile(`--[a-z]+(-[a-z]+)*`)

// codeFlags puts each flag of a text between backquotes.
func codeFlags(text string) string { return flagWord.ReplaceAllString(text, "`$0`") }
