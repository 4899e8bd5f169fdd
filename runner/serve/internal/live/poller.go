package live

import (
	"context"
	"sync"
	"time"
)

// A poller reads the version of a store for all subscribers. Its goroutine runs while
// there are subscribers.
type poller struct {
	version     func(context.Context) (int64, error)
	every       time.Duration
	mu          sync.Mutex
	subscribers map[chan struct{}]bool
	stop        context.CancelFunc
}

func newPoller(version func(context.Context) (int64, error), every time.Duration) *poller {
	return &poller{version: version, every: every, subscribers: map[chan struct{}]bool{}}
}

// subscribe returns a channel that receives a value after each new version, and a
// function that ends the subscription.
func (p *poller) subscribe() (chan struct{}, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := make(chan struct{}, 1)
	p.subscribers[c] = true
	if len(p.subscribers) == 1 {
		ctx, stop := context.WithCancel(context.Background())
		p.stop = stop
		go p.poll(ctx)
	}
	return c, sync.OnceFunc(func() { p.unsubscribe(c) })
}

func (p *poller) unsubscribe(c chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subscribers, c)
	if len(p.subscribers) == 0 {
		p.stop()
	}
}

// poll reads the version until ctx ends. It ignores errors: the next reading may succeed.
func (p *poller) poll(ctx context.Context) {
	t := time.NewTicker(p.every)
	defer t.Stop()
	last := int64(-1)
	for {
		if v, err := p.version(ctx); err == nil && v != last {
			last = v
			p.notify()
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *poller) notify() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.subscribers {
		Notify(c)
	}
}

// Notify puts a value into a channel with room for one value. It does nothing if the
// channel is full.
func Notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
