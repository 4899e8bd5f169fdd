package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/databases/postgres"
	"github.com/seed61713e19/capstan/internal/hooks"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/reports"
)

type hookFlags struct {
	cascade string
	agent   string
	event   string
	model   string
	timeout time.Duration
	store   storeFlags

	settings string
	env      []string
}

func (c *Command) hook() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   "hook --rules FILE",
		Short: "Judge the actions of a coding agent",
		Long: `Read the payload of a coding agent's hook from standard input, apply the hooks of the
cascade, and answer in the protocol of the agent. Each decision is a stored run. A payload
that Capstan does not understand is refused. Checks and programs see the variables of --env
only, besides PATH, HOME, LANG, LC_*, TMPDIR, TZ and those of Capstan.`,
		Annotations: exitStatus("0 answered, 2 refused by an agent without a form for refusals"),
		Example: `  capstan hook install claude gates.yaml
  capstan hook --rules gates.yaml --agent claude < payload.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.answerHook(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cascade, "rules", "", "cascade file with the hooks")
	flags.StringVar(&f.agent, "agent", "", "name of the agent (default by the fields of the payload)")
	flags.StringVar(&f.event, "event", "", "name of the event, for payloads without one")
	flags.Var((*modelflag.Models)(&f.model), "model", flagTexts["model"])
	flags.DurationVar(&f.timeout, "timeout", 50*time.Second, "time limit of all checks, below the limit of the agent")
	flags.StringVar(&f.settings, "settings", "", flagTexts["settings"])
	flags.StringArrayVar(&f.env, "env", nil, flagTexts["env"])
	f.store.add(cmd)
	return parent(cmd, c.hookInstall(), c.hookUninstall(), c.hookCheck(), c.hookLog(), c.hookVerdict())
}

// hookGrace is how long a hook waits for checks that ignore the time limit.
const hookGrace = 5 * time.Second

// answerHook answers one payload, within the time limit. Whatever fails refuses: an agent
// ignores the failure of a hook.
func (c *Command) answerHook(ctx context.Context, f hookFlags) error {
	if c.Restrict != nil {
		c.Restrict(hookEnvironment(c.Environ, f.env))
	}
	late := time.NewTimer(f.timeout + hookGrace)
	defer late.Stop()
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	events, answers := make(chan *hooks.Event, 1), make(chan hooks.Answer, 1)
	go func() {
		e, unread := c.hookEvent(f)
		events <- e
		answers <- e.Answer(c.decide(ctx, f, e, unread))
	}()
	var a hooks.Answer
	select {
	case a = <-answers:
	case <-late.C:
		e := &hooks.Event{Agent: f.agent}
		select {
		case e = <-events:
		default: // the payload has no end
		}
		a = e.Answer(hooks.Unrecorded(e, fmt.Errorf("it has no verdict after %v", f.timeout)))
	}
	if len(a.Stdout) > 0 {
		if _, err := c.Stdout.Write(a.Stdout); err != nil {
			return &exit{exitUsage, err}
		}
	}
	if _, err := io.WriteString(c.Stderr, a.Stderr); err != nil || a.Status != 0 {
		return &exit{exitUsage, nil}
	}
	return nil
}

// hookEvent reads the payload.
func (c *Command) hookEvent(f hookFlags) (*hooks.Event, error) {
	payload, err := io.ReadAll(io.LimitReader(c.Stdin, hooks.MaxPayload+1))
	if err != nil {
		return &hooks.Event{Agent: f.agent}, err
	}
	return hooks.Decode(f.agent, f.event, payload)
}

// decide applies the hooks to an event. unread is the error of its payload.
func (c *Command) decide(ctx context.Context, f hookFlags, e *hooks.Event, unread error) hooks.Decision {
	g, closeGate, err := c.hookGate(ctx, f, e.Root)
	if err != nil {
		return hooks.Unrecorded(e, err)
	}
	defer closeGate()
	if err := g.Outside(e); err != nil {
		return hooks.Unrecorded(e, err)
	}
	if unread != nil {
		return g.Refuse(ctx, e, unread)
	}
	return g.Decide(ctx, e)
}

// hookGate opens the journal and the cascade. Checks that run programs in the root run
// them in the folder of the agent.
func (c *Command) hookGate(ctx context.Context, f hookFlags, root string) (*hooks.Gate, func(), error) {
	if f.cascade == "" {
		return nil, nil, usage("--rules names the file with the hooks")
	}
	f.store.single = true
	how := runFlags{model: f.model, store: f.store, quiet: true, names: nameFlags{root: root}}
	s, err := c.begin(ctx, how)
	if err != nil {
		return nil, nil, err
	}
	if s.journal == nil {
		s.close()
		return nil, nil, usage("a hook needs a store for its decisions")
	}
	r, err := s.runner(c, how, s.models.chosen(f.model, f.cascade))
	var cascade *cascades.Cascade
	if err == nil {
		cascade, err = r.Load(f.cascade)
	}
	if err == nil && len(cascade.Hooks) == 0 {
		err = usage("%s has no hooks", f.cascade)
	}
	if err != nil {
		s.close()
		return nil, nil, err
	}
	g := &hooks.Gate{Runner: r, Journal: s.journal, Cascade: cascade, Settings: f.settings}
	if file, _, err := c.storeFile(f.store); err == nil && !postgres.IsAddress(file) {
		g.Store, _ = filepath.Abs(file)
	}
	g.Program, _ = os.Executable()
	return g, s.close, nil
}

func (c *Command) hookLog() *cobra.Command {
	var store storeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "log SESSION",
		Short:   "List the decisions on a session of a coding agent",
		Example: "  capstan hook log c4e35053-870a-4e47-8abf-d39e97ae2d0a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			records, err := c.hookRecords(cmd.Context(), store, args[0])
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(c.Stdout, records)
			}
			for _, r := range records {
				what := oneLine(fmt.Sprintf("%s %s %s", r.Event, r.Rule, r.File))
				line := fmt.Sprintf("%s  %-10s %s  %s", reports.Clock(r.Time), r.Verdict, what, oneLine(r.Reason))
				if _, err := fmt.Fprintln(c.Stdout, strings.TrimRight(line, " ")); err != nil {
					return &exit{exitBroken, err}
				}
			}
			return nil
		},
	}
	store.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, flagTexts["json"])
	return cmd
}

// hookRecords returns the decisions on a session; none if the store does not exist.
func (c *Command) hookRecords(ctx context.Context, store storeFlags, session string) ([]hooks.Record, error) {
	j, err := c.kept(store, true)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	records, err := hooks.Log(ctx, j, session)
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	return records, nil
}

func (c *Command) hookVerdict() *cobra.Command {
	var store storeFlags
	var rules string
	cmd := &cobra.Command{
		Use:   "verdict SESSION",
		Short: "Print the verdict on a session of a coding agent",
		Long: `Print the verdict on a session. The exit status of a coding agent does not show whether a
gate refused its work, so use this command in CI after the agent ends. The session is
tampered with if its cascade, programs or settings changed, or if a record is missing. The
tree is that of the files that passed the last end, as git names it. With --rules, that
cascade must have judged the session as the file is now.`,
		Annotations: exitStatus("0 passed, 1 refused, exhausted or tampered with, 3 broken or never judged"),
		Example: `  capstan hook verdict c4e35053-870a-4e47-8abf-d39e97ae2d0a
  capstan hook verdict c4e35053-870a-4e47-8abf-d39e97ae2d0a --rules gates.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			records, err := c.hookRecords(cmd.Context(), store, args[0])
			if err != nil {
				return &exit{exitBroken, err} // without a record, nothing was judged
			}
			digest, err := c.rulesDigest(cmd.Context(), rules, store)
			if err != nil {
				return err
			}
			verdict := hooks.Verdict(records, digest)
			text := verdict
			if tree := hooks.Tree(records); tree != "" && verdict == hooks.Passed {
				text += "\ntree " + tree
			}
			if _, err := fmt.Fprintln(c.Stdout, text); err != nil {
				return &exit{exitBroken, err}
			}
			switch verdict {
			case hooks.Passed:
				return nil
			case hooks.Broken, hooks.NotJudged:
				return &exit{exitBroken, nil}
			}
			return &exit{exitNo, nil}
		},
	}
	store.add(cmd)
	cmd.Flags().StringVar(&rules, "rules", "", "cascade file with the hooks")
	return cmd
}

// rulesDigest returns the digest of the files that decide what a cascade judges; "" without
// a cascade.
func (c *Command) rulesDigest(ctx context.Context, file string, store storeFlags) (string, error) {
	if file == "" {
		return "", nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", &exit{exitBroken, err}
	}
	g, closeGate, err := c.hookGate(ctx, hookFlags{cascade: file, store: store}, hooks.Repository(folder))
	if err != nil {
		return "", err
	}
	defer closeGate()
	deciders, err := g.Deciders()
	if err != nil {
		return "", &exit{exitBroken, err}
	}
	return deciders.Digest(), nil
}
