package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve"
)

// lookEvery is the interval at which a server looks for abandoned runs.
const lookEvery = time.Second

// inherit makes the server resume abandoned runs until ctx ends. The journal
// gives each run to one server only. The returned function waits until the
// search has ended.
func (c *Command) inherit(ctx context.Context, s *kit, server *serve.Server, offered map[string]string, takeover time.Duration, log *serverLog) (wait func()) {
	if takeover == 0 {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		h := heir{log: log, s: s, server: server, offered: offered, reported: map[string]string{}}
		t := time.NewTicker(min(lookEvery, takeover))
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				h.look(ctx)
			}
		}
	}()
	return func() { stop(); <-over }
}

// An heir resumes abandoned runs.
type heir struct {
	log      *serverLog
	s        *kit
	server   *serve.Server
	offered  map[string]string
	reported map[string]string // the reported reason why a run was not resumed, by run
}

// look resumes the abandoned runs. After an error of the store, the next look
// tries again.
func (h *heir) look(ctx context.Context) {
	ids, err := h.s.journal.Abandoned(ctx)
	if err != nil {
		return
	}
	for _, id := range ids {
		switch err := h.take(ctx, id); {
		case err == nil:
			h.log.message(slog.LevelInfo, "", fmt.Sprintf("run %s: its process has ended; this server continues it", id))
		case errors.Is(err, runner.ErrRunBusy), errors.Is(err, serve.ErrClosed), ctx.Err() != nil:
		case errors.Is(err, serve.ErrFull):
			return
		case h.reported[id] != err.Error():
			h.reported[id] = err.Error()
			h.log.note("run %s: its process has ended, but this server cannot continue it: %s", id, oneLine(err.Error()))
		}
	}
}

func (h *heir) take(ctx context.Context, id string) error {
	run, err := h.s.journal.Run(ctx, id)
	if err != nil {
		return err
	}
	name, ordered := run.Start.Settings["cascade"]
	if !ordered {
		return fmt.Errorf("it was started by a command, not by a server: capstan resume %s continues it", id)
	}
	if h.offered[name] == "" {
		return fmt.Errorf("this server does not offer its cascade %s", run.CascadeID)
	}
	return h.server.Resume(ctx, id)
}
