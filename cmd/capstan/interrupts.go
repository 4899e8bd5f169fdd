package main

import (
	"context"
	"errors"
	"io"
)

// An interruptible reader gives up once ctx has ended, though what it reads from
// says nothing: a terminal, or a pipe that nobody writes to. What was begun then is
// left to the end of the process.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

// Read implements [io.Reader].
func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text := make([]byte, len(p))
		n, err := r.from.Read(text)
		done <- result{text[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.text), got.err
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	}
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
