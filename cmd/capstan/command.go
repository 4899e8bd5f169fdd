package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/internal/spellings"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

// A Command is the command line: its streams and its environment. Results go
// to Stdout, everything else to Stderr.
type Command struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Environ        []string           // its secrets are never shown; may be nil
	Restrict       func(env []string) // replaces the environment of the process; may be nil

	piped  io.Reader         // Stdin for complete reads, while a command runs
	hidden map[string]string // the secrets by name, while a command runs
	names  nameFlags         // of a command that reads files
}

// The exit statuses.
const (
	exitOK          = 0
	exitNo          = 1 // a gate rejected a text
	exitUsage       = 2 // usage, or an invalid file
	exitBroken      = 3 // a model, tool, validator or store broke
	exitWaiting     = 4 // a person must answer
	exitBudget      = 5
	exitInterrupted = 130
)

// An exit is an error with the exit status. An error of nil has been printed
// already.
type exit struct {
	status int
	err    error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usage returns an error of the caller. Errors of package os are phrased for
// users.
func usage(format string, args ...any) error {
	for i, arg := range args {
		if at, ok := arg.(*fs.PathError); ok {
			args[i] = files.Named(at)
		}
	}
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// stopped returns the error of a broken command, or of the interrupt that ended
// it.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exit{exitInterrupted, context.Cause(ctx)}
	}
	return &exit{exitBroken, err}
}

// Run runs one command line and returns its exit status.
func (c *Command) Run(ctx context.Context, args []string) int {
	out := &results{Writer: c.Stdout}
	shown := *c
	shown.hidden = redactions.Secrets(c.Environ)
	shown.filter(out)
	defer flush(shown.Stderr)
	if c.Stdin != nil {
		shown.piped = interruptible{ctx, c.Stdin}
	}
	c = &shown
	root := c.root(args)
	root.SetArgs(args)
	err := brokenOff(ctx, root.ExecuteContext(telemetry.Incoming(ctx, c.Getenv)))
	flush(c.Stdout)
	status := c.ended(err)
	if out.lost == nil {
		return status
	}
	if !errors.Is(err, out.lost) {
		fmt.Fprintln(c.Stderr, "capstan: "+out.lost.Error())
	}
	return exitBroken
}

// ended prints the error that a command ended with and returns its exit status.
func (c *Command) ended(err error) int {
	if err == nil {
		return exitOK
	}
	var diagnostics syntax.Diagnostics
	var e *exit
	switch {
	case errors.As(err, &diagnostics):
		fmt.Fprintln(c.Stderr, diagnostics)
		return exitUsage
	case !errors.As(err, &e):
		// cobra's own errors are usage errors
		e = &exit{exitUsage, err}
	}
	if text := e.Error(); text != "" {
		fmt.Fprintln(c.Stderr, "capstan: "+strings.TrimPrefix(text, "capstan: "))
		var ended *engine.Error
		if errors.As(e, &ended) && ended.Position.Line > 0 {
			fmt.Fprintln(c.Stderr, "  at "+ended.Position.String())
		}
	}
	var next advised
	if errors.As(e, &next) {
		for _, line := range next.step.Lines() {
			fmt.Fprintln(c.Stderr, "next: "+oneLine(line))
		}
	}
	return e.status
}

// root returns the command tree. It has only the requested command, unless that
// command is unknown. The flags of all commands take longer to create
// than a small command runs.
func (c *Command) root(args []string) *cobra.Command {
	groups := c.verbs()
	asked := func(v verb) bool { return len(args) > 0 && args[0] == v.name }
	alone := slices.ContainsFunc(groups, func(g group) bool { return slices.ContainsFunc(g.verbs, asked) })
	root := &cobra.Command{
		Use:           "capstan",
		Short:         "Run cascades",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var verbs []string
			for _, verb := range cmd.Commands() {
				verbs = append(verbs, verb.Name())
			}
			return usage("unknown command %q%s", args[0], cmp.Or(moved(cmd, args[0]), meant(args[0], verbs)))
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: c.checkEnvironment,
	}
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			return root.Args(root, args) // the flags of an unknown command are unknown too
		}
		name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
		if unknown {
			var known []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
			if near := cmp.Or(renamedFlags[name], spellings.Nearest(name, known)); near != "" && cmd.Flags().Lookup(near) != nil {
				return usage("unknown flag: --%s, did you mean --%s? See %s --help", name, near, cmd.CommandPath())
			}
		}
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			if _, ok := wrong.GetFlag().Value.(choice); ok {
				return usage("--%s %w", wrong.GetFlag().Name, wrong.Unwrap())
			}
		}
		return usage("%v; see %s --help", err, cmd.CommandPath())
	})
	c.helps(root, groups)
	for _, g := range groups {
		for _, v := range g.verbs {
			if !alone || asked(v) {
				verb := v.make()
				wanting(verb)
				root.AddCommand(verb)
			}
		}
	}
	if root.CompletionOptions.DisableDefaultCmd = alone; !alone {
		root.Version = versionName()
		root.SetVersionTemplate(versionText() + "\n")
		c.completes(root)
		refusing(root)
	}
	return root
}

// wanting makes a command and its subcommands print their usage for wrong
// arguments.
func wanting(verb *cobra.Command) {
	if fits := verb.Args; fits != nil {
		verb.Args = func(cmd *cobra.Command, words []string) error {
			err := fits(cmd, words)
			if _, isExit := errors.AsType[*exit](err); err == nil || isExit {
				return err
			}
			given := ""
			if len(words) > 0 {
				given = ", not " + quoted(strings.Join(words, " "))
			}
			return usage("want %s%s; see %s --help", cmd.UseLine(), given, cmd.CommandPath())
		}
	}
	for _, below := range verb.Commands() {
		wanting(below)
	}
}

// refusing makes the commands that cobra adds reject unknown words. Otherwise a
// shell would run their help as a script.
func refusing(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, verb := range root.Commands() {
		switch verb.Name() {
		case "completion":
			verb.Short = "Print a completion script for a shell"
			verb.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			verb.Args = func(_ *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err != nil || found == root {
					return root.Args(root, args)
				}
				return nil
			}
		}
	}
}

type group struct {
	title string
	verbs []verb
}

type verb struct {
	name string
	make func() *cobra.Command
}

// verbs returns all commands in the order of the help.
func (c *Command) verbs() []group {
	return []group{
		{"Write a cascade:", []verb{
			{"init", c.init}, {"lint", c.lint}, {"inspect", c.inspect}, {"graph", c.graph}, {"script", c.script},
			{"list", c.list}, {"schema", c.schema}, {"convert", c.convert}, {"lsp", c.lsp},
		}},
		{"Run a cascade:", []verb{{"run", c.run}, {"resume", c.resume}, {"answer", c.answer}, {"serve", c.serve}, {"mcp", c.mcp}, {"hook", c.hook}}},
		{"Look at stored runs:", []verb{{"runs", c.runs}, {"show", c.show}, {"events", c.events}}},
		{"Test and measure:", []verb{{"test", c.test}, {"eval", c.eval}, {"measure", c.measure}}},
		{"Check texts without a cascade:", []verb{
			{"gate", c.gate}, {"validate-request", c.validateRequest}, {"schedule", c.schedule}, {"receipt", c.receipt},
		}},
		{"About this installation:", []verb{{"doctor", c.doctor}, {"version", c.version}}},
	}
}

// renamed contains the verbs of older versions whose name is nowhere in a new one.
var renamed = map[string]string{"describe": "inspect", "plan": "inspect", "freeze": "test record", "trust": "measure stats"}

// renamedFlags contains the flags of older versions that are spelt differently now.
var renamedFlags = map[string]string{"db": "store", "key": "signing-key", "exec": "run-programs", "by": "as"}

// moved returns a hint at the command that a word stands for, if that is a command of a
// group or has another name now.
func moved(root *cobra.Command, word string) string {
	path := renamed[word]
	for _, group := range root.Commands() {
		for _, sub := range group.Commands() {
			if sub.Name() == word && sub.IsAvailableCommand() && group.Name() != "completion" && group.Name() != "schedule" {
				path = cmp.Or(path, group.Name()+" "+word)
			}
		}
	}
	if path == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", "capstan "+path)
}

// meant returns a suggestion for an unknown word, or "".
func meant(word string, known []string) string {
	if near := spellings.Nearest(word, known); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// status returns the exit status for the error of a run.
func status(err *engine.Error) int {
	switch err.Code {
	case engine.Blocked, engine.Exhausted:
		return exitNo
	case engine.Invalid:
		return exitUsage
	case engine.Waiting:
		return exitWaiting
	case engine.OverBudget:
		return exitBudget
	case engine.Cancelled:
		return exitInterrupted
	default:
		return exitBroken
	}
}
