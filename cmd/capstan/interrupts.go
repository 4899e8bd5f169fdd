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

// untilInterrupted ends with the first interrupt, so that what runs can end cleanly;
// a second one ends the process. So does the first where nobody has asked yet whether
// it has ended: to listen is a twentieth of what a command takes that only answers.
func untilInterrupted() context.Context {
	return lazy(sync.OnceValue(func() context.Context {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		return ctx
	}))
}

// A lazy context is made when something is first asked of it.
type lazy func() context.Context

// Deadline implements [context.Context]: there is none.
func (lazy) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements [context.Context].
func (c lazy) Done() <-chan struct{} { return c().Done() }

// Err implements [context.Context].
func (c lazy) Err() error { return c().Err() }

// Value implements [context.Context].
func (c lazy) Value(key any) any { return c().Value(key) }

// An interruptible reader gives up once ctx has ended, though what it reads from
// says nothing: a terminal, or a pipe that nobody writes to. What was begun then is
// left to the end of the process.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader].
func (r interruptible) Read(p []byte) (int, error) {
	text := make([]byte, len(p)) // which is written yet once ctx has ended
	n, err := awaited(r.ctx, func() (int, error) { return r.from.Read(text) })
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return copy(p, text[:n]), err
}

// brokenOff gives the error of a command that broke since it was interrupted the
// status of that.
func brokenOff(ctx context.Context, err error) error {
	var e *exit
	if err == nil || ctx.Err() == nil || errors.As(err, &e) && e.status != exitBroken && e.status != exitUsage {
		return err
	}
	return &exit{exitInterrupted, err}
}
