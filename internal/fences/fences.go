// Package fences stops the effects of a run that another process has taken
// over. A paused process may resume between its last check of the run and the
// effect itself. So code must call [Check] immediately before each effect, and
// run a long effect in the context of [Watch]:
//
//	if err := fences.Check(ctx); err != nil {
//		return err
//	}
//	ctx, stop := fences.Watch(ctx)
//	defer stop()
//
// The fence is a value in the context of the run's effects. Begin with [With].
package fences

import (
	"context"
	"errors"
	"time"
)

// checkInterval is the time between two checks during a long effect.
const checkInterval = time.Second

type key struct{}

type fence struct {
	owned func() error
	lost  error
}

// With returns a context whose effects may start only while owned returns nil.
// Running effects end when owned returns an error that is lost; other errors
// may be temporary.
func With(ctx context.Context, owned func() error, lost error) context.Context {
	return context.WithValue(ctx, key{}, &fence{owned, lost})
}

// Check returns an error if no effect may start now. It returns nil without a
// fence.
func Check(ctx context.Context) error {
	if f, ok := ctx.Value(key{}).(*fence); ok {
		return f.owned()
	}
	return nil
}

// Watch returns a context that ends when the run is lost, with the error as its
// cause. The caller must call the returned function after the effect.
func Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	f, ok := ctx.Value(key{}).(*fence)
	if !ok {
		return ctx, func() {}
	}
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		ticks := time.NewTicker(checkInterval)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				if err := f.owned(); errors.Is(err, f.lost) {
					stop(err)
				}
			}
		}
	}()
	return ctx, func() { stop(nil) }
}
