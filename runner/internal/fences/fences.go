// Package fences stops the effects of a run that another process has taken over. A
// process that was paused may wake up between its last look at the run and the effect
// itself. Whatever makes an effect asks [Check] immediately before, and a long effect
// works under the context of [Watch]. The fence travels in the context of the run's
// effects.
package fences

import (
	"context"
	"errors"
	"time"
)

// every is the time between two looks at a run whose effect takes long.
const every = time.Second

type key struct{}

type fence struct {
	owned func() error
	lost  error
}

// With returns a context whose effects begin only while owned returns nil. They end when
// owned returns an error that is lost; any other error may pass.
func With(ctx context.Context, owned func() error, lost error) context.Context {
	return context.WithValue(ctx, key{}, &fence{owned, lost})
}

// Check returns why no effect may begin now, nil where the context has no fence.
func Check(ctx context.Context) error {
	if f, ok := ctx.Value(key{}).(*fence); ok {
		return f.owned()
	}
	return nil
}

// Watch returns a context that ends, with the error as its cause, when the run is lost.
// The caller must call the function when the effect has ended.
func Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	f, ok := ctx.Value(key{}).(*fence)
	if !ok {
		return ctx, func() {}
	}
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		ticks := time.NewTicker(every)
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
