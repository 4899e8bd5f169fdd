package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// untilInterrupted returns a context that ends with the first interrupt, so
// that a run can end cleanly. A second interrupt ends the process. Before a command
// uses the context, every interrupt ends the process, because listening takes a
// twentieth of the time of a short command.
func untilInterrupted() context.Context {
	return lazy(sync.OnceValue(func() context.Context {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		return ctx
	}))
}

// A lazy context is created at its first use.
type lazy func() context.Context

// Deadline implements [context.Context]. There is none.
func (lazy) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements [context.Context].
func (c lazy) Done() <-chan struct{} { return c().Done() }

// Err implements [context.Context].
func (c lazy) Err() error { return c().Err() }

// Value implements [context.Context].
func (c lazy) Value(key any) any { return c().Value(key) }

// An interruptible reader returns when ctx ends, even if its source is silent,
// such as a terminal or an idle pipe. The pending read ends with the process.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader].
func (r interruptible) Read(p []byte) (int, error) {
	text := make([]byte, len(p)) // the pending read may still write to it after ctx ends
	n, err := awaited(r.ctx, func() (int, error) { return r.from.Read(text) })
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return copy(p, text[:n]), err
}

// brokenOff gives an error after an interrupt the exit status of the interrupt.
func brokenOff(ctx context.Context, err error) error {
	var e *exit
	if err == nil || ctx.Err() == nil || errors.As(err, &e) && e.status != exitBroken && e.status != exitUsage {
		return err
	}
	return &exit{exitInterrupted, err}
}
