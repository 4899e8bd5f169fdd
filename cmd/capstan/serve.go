package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/internal/modelflag"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/validators/request/inspectors"
)

type serveFlags struct {
	serverFlags
	hosts    []string
	models   []string
	evidence string
	limit    int
	takeover time.Duration
	operator operatorFlags
	network  networkFlags
	run      runFlags
}

// choose adds the default model at the front of the models for clients. The
// replacing models stay in the flags of runs.
func (f *serveFlags) choose(environment string) error {
	first, replaced := apart(f.run.model)
	if first == "" {
		first = environment
	}
	for _, name := range f.models {
		if cascades.Chosen(name).Default() == "" {
			return usage("--allow-model takes the name of a model, not %q", name)
		}
	}
	if first == "" && len(f.models) > 0 {
		return usage("--allow-model needs a default: give --model or CAPSTAN_MODEL")
	}
	if first != "" {
		f.models = append([]string{first}, f.models...)
	}
	f.run.model = replaced
	return nil
}

// first returns the default model, or "".
func (f serveFlags) first() string { return strings.Join(f.models[:min(1, len(f.models))], "") }

func (c *Command) serve() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [CASCADE|DIR]...",
		Short: "Serve the web page of runs and the HTTP API",
		Long: `Serve the web page of stored runs and the HTTP API under /v1. Clients can run the
cascades that you name, or that are in a folder that you name, and no other file. An
address that other machines can reach needs a token of at least 16 characters, from
--token-file or CAPSTAN_TOKEN.`,
		Example: `  capstan serve
  capstan serve --addr unix:capstan.sock
  capstan serve cascades/ --model gpt-5-mini
  CAPSTAN_TOKEN=… capstan serve --addr 0.0.0.0:7070 --hostname capstan.example.com`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.serveRuns(cmd.Context(), args, f) },
	}
	flags := cmd.Flags()
	f.serverFlags.add(cmd)
	f.operator.add(cmd)
	flags.StringArrayVar(&f.hosts, "hostname", nil, "another name under which clients reach the server; may be repeated")
	flags.Var((*modelflag.Models)(&f.run.model), "model", flagTexts["model"])
	flags.StringArrayVar(&f.models, "allow-model", nil, "another model that clients may choose; may be repeated")
	flags.IntVar(&f.limit, "parallel", 16, flagTexts["parallel"])
	flags.DurationVar(&f.takeover, "takeover", 0, "time after which a run without a process is resumed here, at least 1s (default never)")
	flags.StringVar(&f.run.names.root, "root", ".", flagTexts["root"])
	f.network.add(cmd, &f.run.hosts)
	flags.BoolVar(&f.run.allowExec, "allow-exec", false, flagTexts["allow-exec"])
	flags.StringVar(&f.evidence, "evidence", "", flagTexts["evidence"])
	f.run.store.add(cmd)
	f.run.store.addDurable(cmd)
	return cmd
}

// check returns an error for a value of a flag that is too small.
func (f serveFlags) check() error {
	if f.takeover != 0 && f.takeover < time.Second {
		return usage("--takeover must be 1s at least, not %v", f.takeover)
	}
	if f.operator.drain < 0 {
		return usage("--shutdown-timeout must be 0s at least, not %v", f.operator.drain)
	}
	if f.limit < 1 {
		return usage("--parallel must be 1 at least, not %d", f.limit)
	}
	return nil
}

func (c *Command) serveRuns(ctx context.Context, words []string, f serveFlags) error {
	offered, err := offers(words)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.token, err = c.serverToken(f.serverFlags); err != nil {
		return err
	}
	f.run.quiet, f.run.store.lease = true, f.takeover
	s, err := c.begin(ctx, f.run)
	if err != nil {
		return err
	}
	defer s.close()
	if s.journal == nil {
		return usage("serve needs the runs that --store keeps")
	}
	if err := f.choose(c.Getenv("CAPSTAN_MODEL")); err != nil {
		return err
	}
	log := c.serverLog(f.operator)
	requests := c.requests(f)
	defer requests.Close()
	s.models.trust(s.models.names(f.first(), ""))
	judges, err := s.runner(c, f.run, f.first())
	if err != nil {
		return err
	}
	options := serve.Options{
		Store: s.journal, NewRunner: c.runnerOf(s, offered, f), Cascades: offered, Models: f.models,
		Settings: f.run.settings(), Limit: f.limit, Scales: &balance{c, s, offered, f},
		Gates: serve.Computed(judges.Known().Validators), Runner: judges, Requests: requests,
		Addr: f.addr, Token: f.token, Hosts: f.hosts, Secrets: c.hidden,
		Log: log.Logger,
	}
	if socket(f.addr) != "" {
		options.Addr = "" // only its owner can connect to the socket
	}
	server, err := serve.New(options)
	if err != nil {
		return usage("%w", err)
	}
	c.unrunnable(judges, offered, log)
	unmonitored, err := c.monitor(server, f, log)
	if err != nil {
		return err
	}
	defer unmonitored()
	l, err := c.listening(s, f, log)
	if err != nil {
		return err
	}
	heirs := c.inherit(ctx, s, server, offered, f.takeover, log)
	defer heirs()
	if err := f.operator.until(ctx, server, l, log); err != nil {
		return &exit{exitBroken, err}
	}
	return nil
}

// listening opens the address of a server. It logs the address and the range of clients that can
// connect to it.
func (c *Command) listening(s *kit, f serveFlags, log *serverLog) (net.Listener, error) {
	l, err := listen(f.addr)
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	if socket(f.addr) != "" {
		log.message(slog.LevelInfo, "", f.addr+" serves the page and the API; interrupt to end")
		return l, nil
	}
	if f.token == "" {
		log.message(slog.LevelWarn, "warning: ", "every user of this machine can read all runs and start runs here: set --token-file FILE, or listen on --addr unix:PATH")
	}
	s.page = usable(l, f.hosts)
	log.message(slog.LevelInfo, "", s.page+" shows the runs; interrupt to end")
	return l, nil
}

// unrunnable logs the cascades that cannot run with their current files.
// Clients could not correct them.
func (c *Command) unrunnable(r *runner.Runner, offered map[string]string, log *serverLog) {
	for _, name := range slices.Sorted(maps.Keys(offered)) {
		if _, err := r.Load(offered[name]); err != nil {
			log.note("%s cannot be run as it is now: %s", name, oneLine(err.Error()))
		}
	}
}

// runnerOf returns the function that makes the runner of a run of the server.
func (c *Command) runnerOf(s *kit, offered map[string]string, f serveFlags) func(runner.Start, runner.Journal) (*runner.Runner, error) {
	return func(start runner.Start, j runner.Journal) (*runner.Runner, error) {
		dir, _ := os.Getwd()
		if was := start.Settings[settingDir]; was != "" && was != dir {
			return nil, serve.NewProblem(http.StatusConflict, "elsewhere",
				fmt.Sprintf("run %s was started in %s: capstan resume %s continues it", start.RunID, was, start.RunID))
		}
		own, flags := *s, f.run
		flags.restore(start.Settings)
		own.models = s.models.fresh()
		chosen := own.models.chosen(cmp.Or(start.Model, f.first())+"\n"+f.run.model, offered[start.Settings["cascade"]])
		r, err := own.runner(c, flags, chosen, runner.WithJournal(j), runner.WithAsk(nil))
		if err != nil {
			return nil, err
		}
		return r, own.resumable(r, start.RunID, chosen)
	}
}

// resumable returns the reason why a stored run cannot be resumed.
func (s *kit) resumable(r *runner.Runner, id, chosen string) error {
	run, err := s.journal.Run(context.Background(), id)
	if err != nil || run.RunID != id || !resumable(run) {
		return nil // the run is new or has ended
	}
	if err := s.answersRest(context.Background(), r, run, chosen); err != nil {
		return serve.NewProblem(http.StatusServiceUnavailable, "not_ready", err.Error())
	}
	return nil
}

// requests returns the dispatcher for validation requests. Requests over HTTP
// may only name folders below the root and services of allowed hosts.
func (c *Command) requests(f serveFlags) *dispatch.Dispatcher {
	inspector := &inspectors.Inspector{
		Root: f.run.names.root, AllowExec: f.run.allowExec, EvidenceDir: f.evidence,
		Network: inspectors.Network{Hosts: f.run.hosts, Methods: f.network.methods},
	}
	return dispatch.New(dispatch.Config{
		Fresh:   func() dispatch.Validate { return inspecting(inspector) },
		Judging: seenIn(inspector),
		MaxOpen: 1000,
	})
}

// isCascade reports whether a file is a cascade.
func isCascade(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return err == nil && cascadeID().Match(text)
}

var cascadeID = patterns.Lazy(`(?m)^\s*\{?\s*["']?cascade_id["']?\s*:`)

// offers returns the cascade files of the arguments by their public names.
func offers(words []string) (map[string]string, error) {
	out := map[string]string{}
	for _, word := range words {
		files := []string{word}
		if info, err := os.Stat(word); err != nil {
			return nil, usage("%w", err)
		} else if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(word, "*.y*ml")); err != nil {
				return nil, usage("%w", err)
			}
			files = slices.DeleteFunc(files, func(name string) bool { return !isCascade(name) })
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if other, twice := out[name]; twice && other != file {
				return nil, usage("%s and %s would both be called %s", other, file, name)
			}
			out[name] = file
		}
	}
	return out, nil
}
