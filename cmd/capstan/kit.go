package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A kit has the parts that all runs of a command share.
type kit struct {
	journal   *journal.Journal // nil if runs are not stored
	models    *models
	servers   *remote
	progress  *progress
	sinks     []event.Sink
	closers   []func()
	telemetry *telemetry.Telemetry // nil if nothing is sent
	notices   *runner.Notices
	page      string // the address of this command's page; "" for none
}

// These constants are the times that an ending command waits for its notices:
// normally, and after an interrupt. The next start of the run sends the others.
const (
	maxNotices  = 30 * time.Second
	lastNotices = time.Second
)

// noticing sends the notices of questions.
func (c *Command) noticing(interrupted context.Context, s *kit) {
	o := runner.NoticeOptions{
		Warn: func(run string, err error) { fmt.Fprintf(c.Stderr, "note: run %s: %s\n", run, oneLine(err.Error())) },
		Link: func(run string) string {
			if s.page == "" {
				return ""
			}
			return s.page + "/runs/" + url.PathEscape(run)
		},
	}
	if len(c.hidden) > 0 {
		o.Clean = c.clean
	}
	s.notices = runner.NewNotices(o)
	s.closers = append(s.closers, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(interrupted), maxNotices)
		defer cancel()
		release := context.AfterFunc(interrupted, func() { time.AfterFunc(lastNotices, cancel) })
		defer release()
		s.notices.Close(ctx)
	})
}

// begin opens the parts that a run needs. close releases them, immediately if
// ctx has ended.
func (c *Command) begin(ctx context.Context, f runFlags) (*kit, error) {
	if f.names.root != "" {
		if info, err := os.Stat(f.names.root); errors.Is(err, fs.ErrNotExist) {
			return nil, usage("--root: no such folder: %s", f.names.root)
		} else if err != nil {
			return nil, usage("--root: %w", err)
		} else if !info.IsDir() {
			return nil, usage("--root: %s is not a directory", f.names.root)
		}
	}
	j, err := c.store(f.store)
	if err != nil {
		return nil, err
	}
	s := &kit{journal: j, servers: &remote{}}
	s.closers = append(s.closers, func() { s.servers.close(c.Stderr) })
	if j != nil {
		s.closers = append(s.closers, func() { j.Close() })
	}
	c.noticing(ctx, s)
	s.progress = c.progress(f.quiet)
	s.models = shownModels(c.Getenv, !f.quiet && c.terminal(c.Stderr), j, f.names.root, func(w openai.Wait) { s.progress.waits(w) })
	s.sinks = []event.Sink{s.progress}
	if t, err := telemetry.FromEnvironment(context.Background(), c.Getenv, telemetry.Options{Version: versionName()}); err != nil {
		fmt.Fprintf(c.Stderr, "note: %v; nothing is sent\n", err)
	} else if t != nil {
		s.sinks, s.telemetry = append(s.sinks, c.telemetrySink(t)), t
		s.closers = append(s.closers, func() { c.sent(t) })
	}
	if f.events != "" {
		if err := sparing("--events", f.events); err != nil {
			s.close()
			return nil, err
		}
		w, err := os.OpenFile(f.events, os.O_WRONLY|os.O_CREATE, privateMode) // the first event truncates it
		if err != nil {
			s.close()
			return nil, usage("--events: %w", err)
		}
		sink := &eventFile{f: w, out: redactions.Writer(w, c.hidden)}
		s.sinks = append(s.sinks, sink)
		s.closers = append(s.closers, func() { sink.report(c.Stderr) })
	}
	return s, nil
}

// telemetrySink returns a sink for telemetry without secrets. Secrets can occur
// only if content is recorded. The search for secrets is the largest part of the
// cost.
func (c *Command) telemetrySink(t *telemetry.Telemetry) event.Sink {
	if c.Getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT") == "" {
		return t
	}
	return redactions.Sink(t, c.hidden)
}

// maxSending is how long the end of a run waits for its telemetry.
const maxSending = 5 * time.Second

func (c *Command) sent(t *telemetry.Telemetry) {
	ctx, cancel := context.WithTimeout(context.Background(), maxSending)
	defer cancel()
	if err := t.Shutdown(ctx); err != nil {
		for lost := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(c.Stderr, "note:", lost)
		}
	}
}

// quietly makes a kit for commands that judge texts: it stores no run and shows none.
func (c *Command) quietly(j *journal.Journal, f runFlags) *kit {
	s := &kit{servers: &remote{}, models: newModels(c.Getenv, false, j, f.names.root), progress: c.progress(true)}
	s.closers = append(s.closers, func() { s.servers.client.Close() })
	return s
}

func (s *kit) close() {
	for _, f := range slices.Backward(s.closers) {
		f()
	}
}

// runner returns a runner with a default model. The additional options take
// precedence.
func (s *kit) runner(c *Command, f runFlags, model string, more ...runner.Option) (*runner.Runner, error) {
	options := []runner.Option{
		withGates(),
		runner.WithModel(s.models), runner.WithModelName(model),
		runner.WithTools(tools(tool.Options{Root: f.names.root, Hosts: f.hosts, AllowExec: f.allowExec})...),
		runner.WithRemote(s.servers), runner.WithTrace(s.telemetry.Context), runner.WithAsk(c.asker(s.progress)), runner.WithNotices(s.notices),
	}
	if s.progress.width != nil { // somebody reads the text as it arrives
		options = append(options, runner.WithText(s.progress.text))
	}
	options = append(options, f.names.options()...)
	for _, sink := range s.sinks {
		options = append(options, runner.WithSink(sink))
	}
	if s.journal != nil {
		options = append(options, runner.WithJournal(s.journal))
	}
	r, err := runner.New(append(options, more...)...)
	if err != nil {
		return nil, usage("%w", err)
	}
	return r, nil
}

// secret reports whether a text contains a secret of the environment.
func (c *Command) secret(text string) bool { return c.clean(text) != text }

// clean returns a text without the secrets.
func (c *Command) clean(text string) string { return redactions.Text(text, c.hidden) }
