package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed61713e19/capstan/internal/redactions"
	"github.com/seed61713e19/capstan/runner/serve"
)

// operatorFlags are the flags for logs, monitoring and the shutdown of a server.
type operatorFlags struct {
	format, level string
	metrics       string
	drain         time.Duration
}

func (f *operatorFlags) add(cmd *cobra.Command) {
	f.format, f.level = "text", "info"
	choose(cmd, &f.format, "log-format", "format of the log on standard error", "text", "json")
	choose(cmd, &f.level, "log-level", "lowest level of the log", "info", "debug", "warn", "error")
	cmd.Flags().StringVar(&f.metrics, "metrics-addr", "", "address of /healthz, /readyz and /metrics without a token (default none)")
	cmd.Flags().DurationVar(&f.drain, "shutdown-timeout", 10*time.Second, "time that runs have to end after SIGTERM; later they are cancelled")
}

// A serverLog is the log of a server. Its lines contain no secrets.
type serverLog struct {
	*slog.Logger
	c    *Command
	json bool
}

func (c *Command) serverLog(f operatorFlags) *serverLog {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		panic(err) // the flag takes names of levels only
	}
	out, options := redactions.Writer(c.Stderr, c.hidden), &slog.HandlerOptions{Level: level, ReplaceAttr: inUTC}
	l := &serverLog{c: c, json: f.format == "json"}
	if l.json {
		l.Logger = slog.New(slog.NewJSONHandler(out, options))
	} else {
		l.Logger = slog.New(slog.NewTextHandler(out, options))
	}
	return l
}

// inUTC converts the time of a log line to UTC, the zone of all times that Capstan prints.
func inUTC(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	}
	return a
}

// message writes a line for people, or a log line for --log-format json.
func (l *serverLog) message(level slog.Level, prefix, text string) {
	if l.json {
		l.Log(context.Background(), level, text)
		return
	}
	fmt.Fprintln(l.c.Stderr, prefix+text)
}

func (l *serverLog) note(format string, args ...any) {
	l.message(slog.LevelWarn, "note: ", fmt.Sprintf(format, args...))
}

// usable returns an address of a listener for this machine. With host names, it
// uses the first one. Browsers cannot open 0.0.0.0.
func usable(l net.Listener, hosts []string) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		name := "localhost"
		if len(hosts) > 0 {
			name = hosts[0]
		}
		host = name
	}
	return "http://" + net.JoinHostPort(host, port)
}

// monitor serves the monitoring address, if one is set, until the returned
// function is called.
func (c *Command) monitor(server *serve.Server, f serveFlags, log *serverLog) (end func(), err error) {
	if f.operator.metrics == "" {
		return func() {}, nil
	}
	l, err := listen(f.operator.metrics)
	if err != nil {
		return nil, &exit{exitBroken, fmt.Errorf("--metrics-addr: %w", err)}
	}
	at := f.operator.metrics
	if socket(at) == "" {
		at = usable(l, f.hosts)
	}
	log.message(slog.LevelInfo, "", at+" serves /healthz, /readyz and /metrics without a token")
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- server.ServeMonitoring(ctx, l) }()
	return func() {
		stop()
		if err := <-over; err != nil {
			log.Error("monitoring", "error", err)
		}
	}, nil
}

// until serves l until ctx ends. Then the current runs and requests end
// concurrently within the limit.
func (f operatorFlags) until(ctx context.Context, server *serve.Server, l net.Listener, log *serverLog) error {
	drained := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(drained)
		f.close(server)
	})
	err := server.Serve(ctx, l)
	if stop() { // the server failed without an interrupt
		f.close(server)
	} else {
		<-drained
	}
	log.Info("shutdown: done", "cause", cmp.Or(errorText(err), "interrupted"))
	return err
}

func (f operatorFlags) close(server *serve.Server) {
	last, cancel := context.WithTimeout(context.Background(), f.drain)
	defer cancel()
	server.Close(last)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
