package openai

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/seed61713e19/capstan/runner/model"
)

// The waiting times between tries.
const (
	firstWait = 500 * time.Millisecond // doubled for each try
	longWait  = 16 * time.Second
	mostWait  = 2 * time.Minute // if the endpoint asks for more, the call ends
	longPause = 5 * time.Second // shorter waits are not shown unless the endpoint asks for them

	noticedWait = time.Second // shorter waits for the requests per minute are not shown
)

// Limits has the rate limit of each endpoint and key. All clients of an
// endpoint and key share the limit. It is safe for concurrent use.
type Limits struct {
	mu    sync.Mutex
	gates map[string]*gate
}

// gate returns the gate of a base URL and key, with the limits of another
// client.
func (l *Limits) gate(base, key string, limits model.Limits, sleep func(context.Context, time.Duration) error) *gate {
	g := newGate(sleep)
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		name := strings.ToLower(strings.TrimRight(strings.TrimSpace(base), "/")) + "\n" + key
		if known := l.gates[name]; known != nil {
			g = known
		}
		if l.gates == nil {
			l.gates = map[string]*gate{}
		}
		l.gates[name] = g
	}
	g.limit(limits)
	return g
}

// A gate limits the parallel tries and the rate of tries. It is closed while
// the endpoint asks to
// wait. After a refusal, the rate follows the answers and refusals of the
// endpoint. The quota
// always applies.
type gate struct {
	sleep func(context.Context, time.Duration) error
	pace  *rate.Limiter // adapted to the refusals
	quota *rate.Limiter // the RequestsPerMinute

	mu       sync.Mutex
	most     int             // the maximum number of parallel tries; 0 for defaultConcurrency
	inside   int             // the number of tries with a slot, including those that sleep
	queue    []chan struct{} // tries without a slot, the oldest first
	until    time.Time       // the end of the closed time
	lowered  int             // the number of reductions of the rate
	refused  rate.Limit      // the rate before the last reduction
	answered window
}

// defaultConcurrency is the default number of parallel tries.
const defaultConcurrency = 64

func newGate(sleep func(context.Context, time.Duration) error) *gate {
	return &gate{sleep: sleep, pace: rate.NewLimiter(rate.Inf, 1), quota: rate.NewLimiter(rate.Inf, 1)}
}

// limit adds the limits of another client. The stricter limits apply.
func (g *gate) limit(l model.Limits) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.Concurrency > 0 && (g.most == 0 || l.Concurrency < g.most) {
		g.most = l.Concurrency
	}
	if l.RequestsPerMinute > 0 {
		g.quota.SetLimit(min(g.quota.Limit(), rate.Limit(l.RequestsPerMinute)/60))
	}
	g.admit()
}

// enter waits for a slot and for the open gate. The caller must call leave. It
// returns the number
// of reductions of the rate at that time.
func (c *Client) enter(ctx context.Context) (lowered int, err error) {
	g := c.gate
	if err := g.slot(ctx); err != nil {
		return 0, err
	}
	if lowered, err = g.wait(ctx); err == nil {
		err = g.reserve(ctx, g.quota, c.showQuota)
	}
	if err != nil {
		g.leave()
	}
	return lowered, err
}

// slot waits for a slot.
func (g *gate) slot(ctx context.Context) error {
	turn := make(chan struct{})
	g.mu.Lock()
	g.queue = append(g.queue, turn)
	g.admit()
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, turn); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	} else { // it got a slot in the meantime
		g.inside--
		g.admit()
	}
	return context.Cause(ctx)
}

// admit gives the free slots to the oldest tries. The caller holds the lock.
func (g *gate) admit() {
	for len(g.queue) > 0 && g.inside < cmp.Or(g.most, defaultConcurrency) {
		close(g.queue[0])
		g.queue = slices.Delete(g.queue, 0, 1)
		g.inside++
	}
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.admit()
}

// reserve sleeps until the limiter allows a try. It calls show before it
// sleeps.
func (g *gate) reserve(ctx context.Context, l *rate.Limiter, show func(time.Duration)) error {
	r := l.Reserve()
	d := r.Delay()
	if d <= 0 {
		return nil
	}
	show(d)
	err := g.sleep(ctx, d)
	if err != nil {
		r.Cancel()
	}
	return err
}

// showQuota reports a long wait for the requests per minute.
func (c *Client) showQuota(d time.Duration) {
	if c.onWait != nil && d >= noticedWait {
		c.onWait(Wait{Host: c.url.Host, For: d, Quota: true})
	}
}

// wait sleeps until the gate is open and the rate allows a try. If the gate was
// closed meanwhile, it waits once more. A try that has slept until that time
// enters without another look at the clock, because timers and clocks can
// differ.
func (g *gate) wait(ctx context.Context) (lowered int, err error) {
	var slept time.Time
	for {
		until, lowered, inside := g.state()
		if d := time.Until(until); d > 0 && !until.Equal(slept) {
			if err := g.sleep(ctx, d); err != nil {
				return 0, err
			}
			slept = until
		}
		if inside > 1 { // a single call waits only if the endpoint asks for it
			if err := g.reserve(ctx, g.pace, func(time.Duration) {}); err != nil {
				return 0, err
			}
		}
		if again, _, _ := g.state(); time.Until(again) <= 0 || again.Equal(slept) {
			return lowered, nil
		}
	}
}

// state returns the end of the closed time, the number of reductions of the
// rate, and the number
// of tries with a slot.
func (g *gate) state() (until time.Time, lowered, inside int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until, g.lowered, g.inside
}

// close closes the gate for a duration.
func (g *gate) close(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.until) {
		g.until = until
	}
}

// The parameters of the rate, in tries per second.
const (
	leastRate = 0.2
	lowers    = 0.8  // the factor after a refusal
	regains   = 1.05 // the factor after an answer, up to regained times the refused rate
	regained  = 0.9
	grows     = 0.05 // added after each answer above that rate
)

// lower reduces the rate after a refusal. It ignores the refusal of a try that
// entered before the
// last reduction.
func (g *gate) lower(lowered int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if lowered != g.lowered {
		return
	}
	g.lowered++
	g.refused = g.pace.Limit()
	if g.refused == rate.Inf {
		g.refused = max(rate.Limit(g.answered.perSecond(time.Now())), 1)
	}
	g.pace.SetLimit(max(g.refused*lowers, leastRate))
}

// raise increases the rate after an answer. Answers to tries before the first
// reduction show the
// rate that the endpoint accepts.
func (g *gate) raise(lowered int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answered.add(time.Now())
	switch limit := g.pace.Limit(); {
	case limit == rate.Inf:
	case lowered == 0:
		g.refused = max(g.refused, rate.Limit(g.answered.perSecond(time.Now())))
		g.pace.SetLimit(max(limit, g.refused*lowers))
	case limit < g.refused*regained:
		g.pace.SetLimit(limit * regains)
	default:
		g.pace.SetLimit(limit + grows)
	}
}

// A window counts the answers in the last seconds.
type window struct {
	began         time.Time
	count, before int
}

func (w *window) add(now time.Time) {
	if age := now.Sub(w.began); age >= time.Second {
		w.before = 0
		if age < 2*time.Second {
			w.before = w.count
		}
		w.began, w.count = now, 0
	}
	w.count++
}

// perSecond returns the larger number of answers in the last two seconds.
func (w *window) perSecond(now time.Time) int {
	if now.Sub(w.began) >= 2*time.Second {
		return 0
	}
	return max(w.count, w.before)
}

// limited reports whether a failure means too many requests.
func limited(f *model.Failure) bool {
	return f.Class == model.RateLimited || f.Status == http.StatusServiceUnavailable && f.RetryAfter > 0
}

// free reports whether the wait does not count as a try: the endpoint asked for
// the wait, and
// there is no fallback model.
func (c *Client) free(q *question, f *model.Failure, waited time.Duration) bool {
	return limited(f) && f.RetryAfter > 0 && !q.r.Next && waited < silences*c.timeout
}

// silences is the maximum number of timeouts in a call. It also limits the
// total wait for the rate
// limit, as a multiple of the timeout.
const silences = 2

// backoff returns the wait after a failed try.
func backoff(try int, f *model.Failure) time.Duration {
	d := f.RetryAfter
	if d <= 0 {
		d = min(firstWait<<min(try-1, 10), longWait)
		d = d/2 + rand.N(d/2) // a random part separates tries that failed at the same time
	}
	return d
}

// pause waits after a failed try. If the endpoint limits the rate, it closes
// the gate for all
// tries.
func (c *Client) pause(ctx context.Context, d time.Duration, f *model.Failure) error {
	if c.onWait != nil && (f.RetryAfter > 0 || f.Class == model.TimedOut || d >= longPause) {
		c.onWait(Wait{Host: c.url.Host, For: d, Limited: limited(f)})
	}
	if limited(f) {
		c.gate.close(d)
		return nil
	}
	return c.sleep(ctx, d)
}

// A Wait is a pause before a request.
type Wait struct {
	Host    string // the host of the endpoint
	For     time.Duration
	Limited bool // reports whether the endpoint limits the rate
	Quota   bool // reports whether the provider's requests per minute limit the rate
}
