package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/internal/hooks"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner"
)

// setupFlags name the settings of an agent.
type setupFlags struct {
	dir   string
	user  bool
	print bool
	model string
	env   []string
	store storeFlags
}

func (f *setupFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "project", "", flagTexts["project"])
	cmd.Flags().Lookup("project").NoOptDefVal = "."
	cmd.Flags().BoolVar(&f.user, "user", false, "your own settings (the default, where the agent has such)")
	cmd.MarkFlagsMutuallyExclusive("user", "project")
}

func (f *setupFlags) addCommand(cmd *cobra.Command) {
	f.add(cmd)
	cmd.Flags().Var((*modelflag.Models)(&f.model), "model", flagTexts["model"])
	cmd.Flags().StringArrayVar(&f.env, "env", nil, flagTexts["env"])
	f.store.add(cmd)
}

// hookSeconds is the time limit of an agent for a hook.
const hookSeconds = 60

// setup returns the hooks of an agent for a cascade. The paths are absolute, because the
// agent starts the hook from another folder. PATH has the value of this process, because the
// settings of a repository can change the environment of the agent.
func (c *Command) setup(agent, file string, f setupFlags) (s hooks.Setup, settings string, err error) {
	if s, err = hooks.NewSetup(agent); err == nil {
		settings, err = s.File(f.dir, c.Getenv)
	}
	if err != nil {
		return s, "", usage("%w", err)
	}
	s.Seconds = hookSeconds
	if f.user && !filepath.IsAbs(settings) {
		return s, "", usage("%s reads hooks from projects only: use --project", agent)
	}
	program, err := os.Executable()
	if err != nil {
		return s, "", &exit{exitBroken, err}
	}
	store, _, err := c.storeFile(f.store)
	if err != nil {
		return s, "", usage("%w", err)
	}
	if store == noStore {
		return s, "", usage("a hook needs a store for its decisions")
	}
	names := []*string{&file, &settings}
	if !postgres.IsAddress(store) {
		names = append(names, &store)
	}
	for _, name := range names {
		if *name, err = filepath.Abs(*name); err != nil {
			return s, "", usage("%w", err)
		}
	}
	s.Command = []string{program, "hook", "--rules", file, "--settings", settings, "--store", store}
	for _, name := range []string{"PATH", "HOME"} {
		if value := c.Getenv(name); value != "" {
			s.Command = append(s.Command, "--env", name+"="+value)
		}
	}
	for _, entry := range f.env {
		s.Command = append(s.Command, "--env", entry)
	}
	if model := cmp.Or(f.model, c.Getenv("CAPSTAN_MODEL")); model != "" {
		s.Command = append(s.Command, "--model", model)
	}
	return s, settings, nil
}

// judging returns the hooks of an agent for a cascade that has rules. The hooks see the
// variables that the cascade needs.
func (c *Command) judging(agent, file string, f setupFlags) (hooks.Setup, string, *cascades.Cascade, error) {
	cascade, err := c.load(file)
	if err != nil {
		return hooks.Setup{}, "", nil, err
	}
	if len(cascade.Hooks) == 0 {
		return hooks.Setup{}, "", nil, usage("%s has no hooks", file)
	}
	m := newModels(c.Getenv, false, nil, c.names.root)
	for _, h := range cascade.Hooks {
		names := h.Cascade.Variables()
		for _, name := range h.Cascade.Models(cascades.Chosen(m.chosen(f.model, file))) {
			if p, ok := m.Of(h.Cascade.EveryProvider()).Provider(name); ok && p.KeyEnv != "" {
				names = append(names, p.KeyEnv)
			}
		}
		for _, name := range names {
			if !slices.Contains(f.env, name) {
				f.env = append(f.env, name)
			}
		}
	}
	s, settings, err := c.setup(agent, file, f)
	return s, settings, cascade, err
}

// readSettings returns the settings; nil if the file does not exist.
func readSettings(file string) ([]byte, error) {
	text, err := runner.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage("%w", err)
	}
	return text, nil
}

func (c *Command) hookInstall() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   "install AGENT FILE",
		Short: "Install the hooks of a cascade in a coding agent",
		Long: "Add the hooks of the cascade to the settings of an agent. Other settings stay. The agent must\n" +
			"not be able to write the settings, the cascade or the store. Agents:\n" + strings.Join(hooks.Agents(), ", ") + ".",
		Example: "  capstan hook install claude gates.yaml\n  capstan hook install codex gates.yaml --print",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			s, file, _, err := c.judging(args[0], args[1], f)
			if err != nil {
				return err
			}
			settings, err := readSettings(file)
			if err != nil {
				return err
			}
			if f.print {
				if settings, err = s.Merge(settings); err != nil {
					return usage("%s: %w", file, err)
				}
				_, err = c.Stdout.Write(settings)
				return err
			}
			if err := c.writeSettings(file, settings, s.Merge); err != nil {
				return err
			}
			if s.InProject(f.dir) {
				fmt.Fprintf(c.Stderr, "note: the agent can change %s and remove the hooks; only capstan hook verdict counts\n", file)
			}
			return nil
		},
	}
	f.addCommand(cmd)
	cmd.Flags().BoolVar(&f.print, "print", false, "output of the settings, without a change")
	return cmd
}

func (c *Command) hookUninstall() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:     "uninstall AGENT",
		Short:   "Remove the hooks of Capstan from a coding agent",
		Example: "  capstan hook uninstall claude",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, file, err := c.setup(args[0], "", f)
			if err != nil {
				return err
			}
			settings, err := readSettings(file)
			if err != nil || settings == nil {
				return err
			}
			return c.writeSettings(file, settings, s.Remove)
		},
	}
	f.add(cmd)
	return cmd
}

// writeSettings replaces a settings file, or removes it if the new text is empty.
func (c *Command) writeSettings(file string, settings []byte, change func([]byte) ([]byte, error)) error {
	text, err := change(settings)
	switch {
	case err != nil:
		return usage("%s: %w", file, err)
	case text == nil:
		err = os.Remove(file)
	default:
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = replaceFile(file, text)
		}
	}
	if err != nil {
		return usage("%w", err)
	}
	_, err = fmt.Fprintln(c.Stdout, file)
	return err
}

// replaceFile writes a file so that a reader sees the old or the new text.
func replaceFile(file string, text []byte) error {
	fresh := file + ".capstan"
	if err := os.WriteFile(fresh, text, privateMode); err != nil {
		return err
	}
	return os.Rename(fresh, file)
}

func (c *Command) hookCheck() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   "check AGENT FILE",
		Short: "Check the installed hooks of a coding agent",
		Long: `Compare the settings of the agent with the hooks of the cascade, send a refused and a
passed payload through each installed command, and list what the hooks cannot refuse.`,
		Annotations: exitStatus("0 the hooks work, 1 the hooks are missing, or do not refuse"),
		Example:     "  capstan hook check claude gates.yaml",
		Args:        cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			s, file, cascade, err := c.judging(args[0], args[1], f)
			if err != nil {
				return err
			}
			if err := c.checkHooks(s, file); err != nil {
				return &exit{exitNo, err}
			}
			fmt.Fprintf(c.Stdout, "the hooks in %s work\n", file)
			for _, open := range slices.Concat(openEvents(s, cascade), s.Open()) {
				fmt.Fprintf(c.Stdout, "open: %s\n", open)
			}
			return nil
		},
	}
	f.addCommand(cmd)
	return cmd
}

// openEvents lists the events that no rule of the cascade covers, or for which the agent
// has no hook.
func openEvents(s hooks.Setup, cascade *cascades.Cascade) (open []string) {
	for _, on := range []string{cascades.OnWrite, cascades.OnCommand, cascades.OnStop, cascades.OnSubagent, cascades.OnPrompt} {
		ruled := slices.ContainsFunc(cascade.Hooks, func(h *cascades.Hook) bool { return h.On == on })
		switch {
		case slices.Contains(s.Uncovered(), on):
			open = append(open, on+" (the agent has no such event)")
		case !ruled:
			open = append(open, on+" (no rule)")
		}
	}
	return open
}

func (c *Command) checkHooks(s hooks.Setup, file string) error {
	settings, err := readSettings(file)
	if err != nil {
		return err
	}
	merged, err := s.Merge(settings)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if !hooks.SameSettings(settings, merged) {
		return fmt.Errorf("%s does not have the hooks of this cascade; capstan hook install %s adds them", file, s.Agent)
	}
	event, refused, passed := s.Payloads(fmt.Sprintf("check-%d", time.Now().UnixNano()))
	commands := s.Commands(settings)
	for _, line := range slices.Compact(slices.Sorted(maps.Values(commands))) {
		if s.ByArgument() {
			line += " --event " + event
		}
		for payload, refuses := range map[string]bool{refused: true, passed: false} {
			cmd := exec.Command("sh", "-c", line)
			cmd.Stdin, cmd.Env = strings.NewReader(payload), c.Environ
			cmd.WaitDelay = time.Second
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if answered := bytes.Contains(out.Bytes(), []byte("deny")); err != nil || answered != refuses {
				return fmt.Errorf("the hook must refuse a write to .git, and pass an unknown tool; it answers %q: %v: %s",
					out.String(), err, oneLine(errs.String()))
			}
		}
	}
	return nil
}

// hookSigns lists the settings of coding agents that have hooks of Capstan, those of the
// working directory included.
func (c *Command) hookSigns() (signs []sign) {
	for _, agent := range hooks.Agents() {
		var seen []string
		for _, dir := range []string{"", "."} {
			s, err := hooks.NewSetup(agent)
			if err != nil {
				return nil
			}
			file, err := s.File(dir, c.Getenv)
			if err != nil || slices.Contains(seen, file) {
				continue
			}
			seen = append(seen, file)
			if settings, err := readSettings(file); err == nil && hooks.Installed(settings) {
				signs = append(signs, hookSign(s, file, settings))
			}
		}
	}
	return signs
}

func hookSign(s hooks.Setup, file string, settings []byte) sign {
	found := sign{Kind: "hook", Name: s.Agent, State: healthy, Message: "installed in " + file}
	if reason := s.Broken(settings); reason != "" {
		found.State, found.Message, found.Fix = broken, file+": "+reason, "capstan hook install "+s.Agent+" FILE"
	}
	return found
}
