package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/hooks"
)

// setupFlags name the settings of an agent.
type setupFlags struct {
	dir   string
	print bool
	store storeFlags
}

func (f *setupFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "project", "", flagTexts["project"])
}

// hookSeconds is the time limit of an agent for a hook.
const hookSeconds = 60

// setup returns the hooks of an agent for a cascade. The paths are absolute, because the
// agent starts the hook from another folder.
func (c *Command) setup(agent, file string, f setupFlags) (s hooks.Setup, settings string, err error) {
	program, err := os.Executable()
	if err != nil {
		return s, "", &exit{exitBroken, err}
	}
	if file, err = filepath.Abs(file); err != nil {
		return s, "", usage("%w", err)
	}
	s = hooks.Setup{Agent: agent, Seconds: hookSeconds, Command: []string{program, "hook", "--rules", file}}
	if f.store.store != "" {
		s.Command = append(s.Command, "--store", f.store.store)
	}
	if settings, err = s.File(f.dir, c.Getenv); err != nil {
		return s, "", usage("%w", err)
	}
	return s, settings, nil
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
			s, file, err := c.setup(args[0], args[1], f)
			if err != nil {
				return err
			}
			cascade, err := c.load(args[1])
			if err != nil {
				return err
			}
			if len(cascade.Hooks) == 0 {
				return usage("%s has no hooks", args[1])
			}
			settings, err := readSettings(file)
			if err == nil && !f.print {
				return c.writeSettings(file, settings, s.Merge)
			}
			if err != nil {
				return err
			}
			if settings, err = s.Merge(settings); err != nil {
				return usage("%s: %w", file, err)
			}
			_, err = c.Stdout.Write(settings)
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.print, "print", false, "output of the settings, without a change")
	f.store.add(cmd)
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

// writeSettings replaces a settings file, or removes a file of which nothing is left.
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
passed payload through the installed command, and list what the hooks cannot refuse.`,
		Annotations: exitStatus("0 the hooks work, 1 the hooks are missing, or do not refuse"),
		Example:     "  capstan hook check claude gates.yaml",
		Args:        cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			s, file, err := c.setup(args[0], args[1], f)
			if err != nil {
				return err
			}
			if err := c.checkHooks(s, file); err != nil {
				return &exit{exitNo, err}
			}
			fmt.Fprintf(c.Stdout, "the hooks in %s work\n", file)
			for _, open := range s.Open() {
				fmt.Fprintf(c.Stdout, "open: %s\n", open)
			}
			return nil
		},
	}
	f.add(cmd)
	f.store.add(cmd)
	return cmd
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
	if bytes.Contains(settings, []byte(`"disableAllHooks": true`)) {
		return fmt.Errorf("%s disables all hooks", file)
	}
	for payload, status := range map[string]int{"{}": exitUsage, s.Passing(): exitOK} {
		cmd := exec.Command("sh", "-c", s.Line())
		cmd.Stdin, cmd.Env = strings.NewReader(payload), c.Environ
		cmd.WaitDelay = time.Second
		output, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != status {
			return fmt.Errorf("the hook ends with status %d, not %d: %v: %s", got, status, err, oneLine(string(output)))
		}
	}
	return nil
}

// hookSigns lists the settings of coding agents that have hooks of Capstan.
func (c *Command) hookSigns() (signs []sign) {
	for _, agent := range hooks.Agents() {
		file, err := (hooks.Setup{Agent: agent}).File("", c.Getenv)
		if err != nil {
			continue
		}
		settings, err := readSettings(file)
		if err == nil && hooks.Installed(settings) {
			signs = append(signs, sign{What: "hook", Name: agent, State: healthy, Says: "installed in " + file})
		}
	}
	return signs
}
