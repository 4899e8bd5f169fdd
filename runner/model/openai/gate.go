package openai

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// How long is waited between tries.
const (
	firstWait = 500 * time.Millisecond // doubled each time
	longWait  = 16 * time.Second
	mostWait  = 2 * time.Minute // a call whose endpoint asks for more ends
)

// A gate lets a number of tries through at once, and none while the endpoint
// wants to be left alone.
type gate struct {
	slots chan struct{} // one is held while waiting, too: so many wait here, the others for a slot
	sleep func(context.Context, time.Duration) error

	mu    sync.Mutex
	until time.Time // closed till then
}

// enter waits for a slot and for the gate to be open; leave gives it back.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := g.wait(ctx); err != nil {
		g.leave()
		return err
	}
	return nil
}

func (g *gate) leave() { <-g.slots }

// wait sleeps till the gate opens, and again if it was closed anew meanwhile. Who has
// slept till then goes in, whatever the clock says: timers and clocks may differ.
func (g *gate) wait(ctx context.Context) error {
	var slept time.Time
	for {
		until := g.closed()
		d := time.Until(until)
		if d <= 0 || until.Equal(slept) {
			return nil
		}
		if err := g.sleep(ctx, d); err != nil {
			return err
		}
		slept = until
	}
}

func (g *gate) closed() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until
}

// close keeps tries out for d.
func (g *gate) close(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.until) {
		g.until = until
	}
}

// pause waits after a try that failed. Where the rate is limited it closes the
// gate, so that the next try waits there with everyone else's.
func (c *Client) pause(ctx context.Context, try int, f *model.Failure) error {
	d := f.RetryAfter
	if d <= 0 {
		d = min(firstWait<<min(try-1, 10), longWait)
		d = d/2 + rand.N(d/2) // so that those who failed together do not come back together
	}
	if f.Class == model.RateLimited {
		c.gate.close(d)
		return nil
	}
	return c.sleep(ctx, d)
}
