package live

import (
	"context"
	"sync"
	"time"
)

// A pulse tells those who watch a store that something was written to it, by
// this process or another. However many watch, one goroutine asks, and none
// does while nobody watches.
type pulse struct {
	version func(context.Context) (int64, error)
	every   time.Duration
	mu      sync.Mutex
	watch   map[chan struct{}]bool
	stop    context.CancelFunc
}

func newPulse(version func(context.Context) (int64, error), every time.Duration) *pulse {
	return &pulse{version: version, every: every, watch: map[chan struct{}]bool{}}
}

// beats gives a channel that has something whenever the store may have changed
// since it was last read from, and a function that ends the watching. What was
// written before the call is told of by no beat: read after calling it.
func (p *pulse) beats() (chan struct{}, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := make(chan struct{}, 1)
	p.watch[c] = true
	if len(p.watch) == 1 {
		ctx, stop := context.WithCancel(context.Background())
		p.stop = stop
		go p.beat(ctx)
	}
	return c, sync.OnceFunc(func() { p.leave(c) })
}

func (p *pulse) leave(c chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watch, c)
	if len(p.watch) == 0 {
		p.stop()
	}
}

// beat asks until nobody watches any more. A store that cannot tell is asked
// again.
func (p *pulse) beat(ctx context.Context) {
	t := time.NewTicker(p.every)
	defer t.Stop()
	last := int64(-1)
	for {
		if v, err := p.version(ctx); err == nil && v != last {
			last = v
			p.tell()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *pulse) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.watch {
		Wake(c)
	}
}

// Wake has something in the channel of who waits, which has room for one, and does
// not wait: who has not looked since the last one looks once.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
