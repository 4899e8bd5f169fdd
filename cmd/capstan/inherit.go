package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// lookEvery is how often a server looks for runs whose process is gone.
const lookEvery = time.Second

// inherit has the crew go on with runs whose process is gone, until ctx ends.
// Servers that look at the same time go on with each run once: the journal gives
// it to one. The function that it gives waits for the end of the looking.
func (c *Command) inherit(ctx context.Context, s *kit, crew *orders.Crew, offered map[string]string, takeover time.Duration) (wait func()) {
	if takeover == 0 {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		h := heir{c: c, s: s, crew: crew, offered: offered, told: map[string]string{}}
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

// An heir takes over runs.
type heir struct {
	c       *Command
	s       *kit
	crew    *orders.Crew
	offered map[string]string
	told    map[string]string // of each run, why it was not taken over
}

// look takes over what there is. A store that cannot be looked at is looked at
// again.
func (h *heir) look(ctx context.Context) {
	ids, err := h.s.journal.Abandoned(ctx)
	if err != nil {
		return
	}
	for _, id := range ids {
		switch err := h.take(ctx, id); {
		case err == nil:
			fmt.Fprintf(h.c.Stderr, "run %s: its process is gone; it goes on here\n", id)
		case errors.Is(err, runner.ErrRunBusy), errors.Is(err, orders.ErrClosed), ctx.Err() != nil:
		case errors.Is(err, orders.ErrFull):
			return
		case h.told[id] != err.Error():
			h.told[id] = err.Error()
			fmt.Fprintf(h.c.Stderr, "note: run %s: its process is gone, and it cannot go on here: %s\n", id, oneLine(err.Error()))
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
	return h.crew.Resume(ctx, id)
}
