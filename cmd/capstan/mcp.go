package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/mcpserver"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/edit"
	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/inspectors"
	"github.com/seed61713e19/capstan/validators/schedule"
)

type mcpFlags struct {
	with     []string
	only     []string
	evidence string
	run      runFlags
	network  networkFlags
	signer   signerFlags
}

func (c *Command) mcp() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [CASCADE|DIR]...",
		Short: "Start an MCP server with gates and cascades as tools",
		Long: `Start an MCP server on standard input and output. Its tools are the validators, the
gates, the schedule tools, the named cascades, run, lint and validate_request;
--signing-key or --signer adds receipt, and --pub adds verify. Clients cannot see or
change the parameters of --with. An interrupt cancels the active runs; resume them later.`,
		Example: `  capstan mcp
  capstan mcp cascades/ --model gpt-5-mini
  capstan mcp --with db=week.db --tool schedule_quality --tool save_schedule`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.serveMCP(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.with, "with", nil, flagTexts["with"])
	flags.StringArrayVar(&f.only, "tool", nil, "name of a tool to offer, instead of all; may be repeated")
	flags.Var((*modelflag.Models)(&f.run.model), "model", flagTexts["model"])
	flags.StringVar(&f.run.names.root, "root", ".", flagTexts["root"])
	f.network.add(cmd, &f.run.hosts)
	flags.BoolVar(&f.run.allowExec, "allow-exec", false, flagTexts["allow-exec"])
	flags.StringVar(&f.evidence, "evidence", "", flagTexts["evidence"])
	f.signer.add(cmd)
	f.run.store.add(cmd)
	f.run.store.addDurable(cmd)
	return cmd
}

func (c *Command) serveMCP(ctx context.Context, words []string, f mcpFlags) error {
	offered, err := offers(words)
	if err != nil {
		return err
	}
	with, err := c.assignments(f.with)
	if err != nil {
		return err
	}
	f.run.quiet = true
	s, err := c.begin(ctx, f.run)
	if err != nil {
		return err
	}
	defer s.close()
	s.models.trust(s.models.names(c.mcpJudge(f), ""))
	judges, err := s.runner(c, f.run, c.mcpJudge(f))
	if err != nil {
		return err
	}
	options, err := c.mcpOptions(s, f, with, offered, judges)
	if err != nil {
		return err
	}
	for name, file := range offered {
		cascade, err := judges.Load(file)
		if err != nil {
			return err
		}
		options.Cascades[name] = cascade
	}
	receipts, err := c.mcpReceipts(ctx, s, f)
	if err != nil {
		return err
	}
	options.Tools = append(options.Tools, receipts...)
	server, err := mcpserver.New(options)
	if err != nil {
		return usage("%w", err)
	}
	signal.Ignore(syscall.SIGPIPE) // a write to a closed client must return an error instead of ending the process before the runs are stored
	err = server.Serve(ctx, c.Stdin, unfiltered(c.Stdout))
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, context.Cause(ctx)}
	case err != nil:
		return &exit{exitBroken, err}
	}
	return nil
}

// mcpOptions returns the options of the server except for the cascades.
func (c *Command) mcpOptions(s *kit, f mcpFlags, with map[string]any, offered map[string]string, judges *runner.Runner) (mcpserver.Options, error) {
	o := mcpserver.Options{
		Version: versionName(), Only: f.only, Judge: judges, Known: judges.Known(), Cascades: map[string]*cascades.Cascade{},
		Runs: &mcpRuns{c, s, f.run, offered}, Stored: s.journal != nil, Root: f.run.names.root, Programs: f.run.allowExec,
		Log: slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: inUTC})),
	}
	if len(c.hidden) > 0 {
		o.Clean = c.clean
	}
	used := map[string]bool{}
	for _, v := range judges.Known().Validators.List() {
		o.Gates = append(o.Gates, mcpserver.Gate{
			Validator: v, Fixed: chosenFrom(with, v.Params(), used), Own: ownForm(v.Name),
			Writes: v.Name == edit.Validator.Name,
		})
	}
	text := func(name string) string { s, _ := with[name].(string); return s }
	for _, t := range schedule.Tools(schedule.Options{DSN: text("db"), Policy: text("policy"), VerifyKey: text("verification_key")}) {
		one := mcpserver.Tool{Tool: t, Fixed: chosenFrom(with, t.Params(), used), Hidden: schedule.Operator()}
		for _, name := range []string{"db", "policy", "verification_key"} {
			delete(one.Fixed, name) // the tools set them, so a call must not
		}
		o.Tools = append(o.Tools, one)
	}
	for name := range with {
		if !used[name] {
			return o, usage("--with %s: no gate and no tool has such a parameter", name)
		}
	}
	inspector := &inspectors.Inspector{
		Root: f.run.names.root, AllowExec: f.run.allowExec, EvidenceDir: f.evidence,
		Network: inspectors.Network{Hosts: f.run.hosts, Methods: f.network.methods},
	}
	var err error
	if inspector.Judge, err = c.criterionJudge(c.mcpJudge(f)); err != nil {
		o.Log.Warn("no model judges the criteria of validation requests", "why", err)
	}
	o.Validate = func(ctx context.Context, text []byte) (any, error) {
		r, err := request.ParseRequest(text)
		if err != nil {
			return nil, err
		}
		outcome, err := inspected(ctx, r, inspector)
		return outcome.Response, err
	}
	return o, nil
}

// mcpJudge returns the model that judges outside cascades. Scripts beside
// cascades contain no replies for it.
func (c *Command) mcpJudge(f mcpFlags) string {
	if name := cmp.Or(f.run.model, c.Getenv("CAPSTAN_MODEL")); name != "scripted" {
		return name
	}
	return ""
}

// chosenFrom returns the values for the parameters in params, and marks them as used.
func chosenFrom(with, params map[string]any, used map[string]bool) map[string]any {
	properties, _ := params["properties"].(map[string]any)
	own := typed(with, params)
	maps.DeleteFunc(own, func(name string, _ any) bool { return properties[name] == nil })
	for name := range own {
		used[name] = true
	}
	return own
}

// ownForm encodes a gate's verdicts in the format of its specification.
func ownForm(gate string) func(validators.Verdict) []byte {
	return func(v validators.Verdict) []byte { return answer(judgement{validator: gate, verdict: v}) }
}

// mcpRuns starts the runs that clients request.
type mcpRuns struct {
	*Command
	kit     *kit
	f       runFlags
	offered map[string]string // the files that the operator named
}

// runner returns the runner for one run. Its scripts start from the beginning.
// A model or a cascade of the client may only use scripts below the root.
func (r *mcpRuns) runner(f runFlags, name, file string, o mcpserver.Order) (*runner.Runner, *kit, string, error) {
	own := *r.kit
	own.models = r.kit.models.fresh()
	if slices.Contains(slices.Collect(maps.Values(r.offered)), file) {
		own.models.chosen(r.f.model, file)
	} else {
		own.models.trust(own.models.names(r.f.model, ""))
	}
	chosen := own.models.names(name, file)
	made, err := own.runner(r.Command, f, chosen, runner.WithAsk(o.Ask), runner.WithSink(o.Sink))
	return made, &own, chosen, err
}

// Run runs a cascade to its end.
func (r *mcpRuns) Run(ctx context.Context, o mcpserver.Order) (engine.Result, error) {
	made, own, chosen, err := r.runner(r.f, o.Model+"\n"+r.f.model, o.Cascade.File, o)
	if err == nil {
		err = r.ready(ctx, o.Cascade, o.Input, own.models, r.f, chosen)
	}
	if err != nil {
		return engine.Result{}, err
	}
	return made.Run(ctx, o.Cascade, o.Input, runner.WithSettings(r.f.settings()))
}

// Answer answers open questions of a run and resumes it.
func (r *mcpRuns) Answer(ctx context.Context, id string, answers map[event.Path]engine.Answer, o mcpserver.Order) (engine.Result, error) {
	run, err := r.kit.journal.Run(ctx, id)
	if err == nil && run.RunID != id {
		err = fmt.Errorf("run %s: %w", id, runner.ErrNoRun)
	}
	if err != nil {
		return engine.Result{}, err
	}
	f := r.f
	f.restore(run.Start.Settings)
	made, own, chosen, err := r.runner(f, run.Start.Model, run.Start.Files[0].Name, o)
	if err == nil {
		err = own.answersRest(ctx, made, run, chosen)
	}
	if err != nil {
		return engine.Result{}, err
	}
	var late error
	taken := false
	for key, a := range answers {
		switch err := r.kit.journal.Answer(ctx, id, key, a); {
		case err == nil, errors.Is(err, runner.ErrExpired): // the run continues without an answer
			taken = true
		case errors.Is(err, runner.ErrAnswered):
			late = err
		default:
			return engine.Result{}, err
		}
	}
	if !taken {
		return engine.Result{}, late
	}
	return made.Resume(ctx, id)
}
