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

// How long is waited between tries.
const (
	firstWait = 500 * time.Millisecond // doubled each time
	longWait  = 16 * time.Second
	mostWait  = 2 * time.Minute // a call whose endpoint asks for more ends
	longPause = 5 * time.Second // from here on a wait is shown that the endpoint did not ask for

	noticedWait = time.Second // from here on a wait for the requests per minute is shown
)

// Limits has the gate of each endpoint and key, so that all clients of an endpoint obey
// its rate limit together. It is safe for concurrent use.
type Limits struct {
	mu    sync.Mutex
	gates map[string]*gate
}

// gate returns the gate of a base URL and key, with the limits of one more client.
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

// A gate lets a number of tries through at once, and none while the endpoint
// wants to be left alone. After a refusal it spreads the tries by a rate, which grows
// with each answer and shrinks with each refusal. The quota spreads them in any case.
type gate struct {
	sleep func(context.Context, time.Duration) error
	pace  *rate.Limiter // follows the refusals
	quota *rate.Limiter // RequestsPerMinute

	mu       sync.Mutex
	most     int             // tries at once; 0 for defaultConcurrency
	inside   int             // tries with a slot, those that sleep too
	queue    []chan struct{} // tries without a slot, the first one first
	until    time.Time       // closed till then
	lowered  int             // how often the rate was lowered
	refused  rate.Limit      // the rate before it was last lowered
	answered window
}

// defaultConcurrency is how many tries are under way at once.
const defaultConcurrency = 64

func newGate(sleep func(context.Context, time.Duration) error) *gate {
	return &gate{sleep: sleep, pace: rate.NewLimiter(rate.Inf, 1), quota: rate.NewLimiter(rate.Inf, 1)}
}

// limit adds the limits of one more client. The stricter limits hold.
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

// enter waits for a slot and for the gate to be open; leave gives it back. It returns
// how often the rate had been lowered when the try was let in.
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
	} else { // it has a slot by now
		g.inside--
		g.admit()
	}
	return context.Cause(ctx)
}

// admit gives the free slots to those that wait longest. The caller holds the lock.
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

// reserve sleeps until a limiter allows a try. It calls show before it sleeps.
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

// showQuota reports a wait for the requests per minute that is long enough to notice.
func (c *Client) showQuota(d time.Duration) {
	if c.onWait != nil && d >= noticedWait {
		c.onWait(Wait{Host: c.url.Host, For: d, Quota: true})
	}
}

// wait sleeps till the gate opens and the rate allows a try, and again if the gate was
// closed anew meanwhile. Who has slept till then goes in, whatever the clock says:
// timers and clocks may differ.
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
		if inside > 1 { // a call alone waits only as long as the endpoint asks
			if err := g.reserve(ctx, g.pace, func(time.Duration) {}); err != nil {
				return 0, err
			}
		}
		if again, _, _ := g.state(); time.Until(again) <= 0 || again.Equal(slept) {
			return lowered, nil
		}
	}
}

// state returns till when the gate is closed, how often the rate was lowered, and the
// number of tries with a slot.
func (g *gate) state() (until time.Time, lowered, inside int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until, g.lowered, g.inside
}

// close keeps tries out for d.
func (g *gate) close(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(d); until.After(g.until) {
		g.until = until
	}
}

// How the rate follows an endpoint, in tries per second.
const (
	leastRate = 0.2
	lowers    = 0.8  // the factor after a refusal
	regains   = 1.05 // the factor for each answer, up to regained of the refused rate
	regained  = 0.9
	grows     = 0.05 // is added for each answer above that
)

// lower lowers the rate after the refusal of a try, unless the rate was lowered since the
// try was let in: the refusal then says nothing about the present rate.
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

// raise raises the rate after an answer. The answer to a try that was let in before the
// rate was first lowered says how many the endpoint takes in a second.
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

// A window counts answers in seconds.
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

// perSecond is how many answers came in the better of the last two seconds.
func (w *window) perSecond(now time.Time) int {
	if now.Sub(w.began) >= 2*time.Second {
		return 0
	}
	return max(w.count, w.before)
}

// limited reports whether a failure says that the endpoint gets too many requests.
func limited(f *model.Failure) bool {
	return f.Class == model.RateLimited || f.Status == http.StatusServiceUnavailable && f.RetryAfter > 0
}

// free reports whether the wait after a refusal uses up no try: the endpoint says when
// to come back, and no other model can answer.
func (c *Client) free(q *question, f *model.Failure, waited time.Duration) bool {
	return limited(f) && f.RetryAfter > 0 && !q.r.Next && waited < silences*c.timeout
}

// silences is how often an endpoint may stay silent in one call, and how many times
// that long a call waits for its turn.
const silences = 2

// backoff is how long is waited after a try that failed.
func backoff(try int, f *model.Failure) time.Duration {
	d := f.RetryAfter
	if d <= 0 {
		d = min(firstWait<<min(try-1, 10), longWait)
		d = d/2 + rand.N(d/2) // so that those who failed together do not come back together
	}
	return d
}

// pause waits after a try that failed. Where the rate is limited it closes the
// gate, so that the next try waits there with everyone else's.
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
	Host    string // of the endpoint
	For     time.Duration
	Limited bool // the endpoint limits the rate
	Quota   bool // the provider's requests per minute limit the rate
}
