package openai_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// limited sets the limits of a client's provider.
func limited(shared *openai.Limits, l model.Limits) func(*openai.Options) {
	return func(o *openai.Options) {
		o.Limits, o.Provider = shared, model.Provider{Name: "house", Limits: l}
	}
}

// Requests are spread evenly over a minute, repeated ones too.
func TestRequestsPerMinute(t *testing.T) {
	e := newEndpoint(t, body(http.StatusInternalServerError, "{}"), reply("Hello"))
	var waits []openai.Wait
	c := e.client(t, limited(nil, model.Limits{RequestsPerMinute: 20, Tries: 2}), func(o *openai.Options) {
		o.OnWait = func(w openai.Wait) { waits = append(waits, w) }
	})
	for range 2 {
		if _, err := c.Call(t.Context(), ask("Hello?")); err != nil {
			t.Fatal(err)
		}
	}
	// The first request does not wait; its repetition also waits for its backoff.
	if len(e.sleeps) != 3 || !near(e.sleeps[1], 3*time.Second) || !near(e.sleeps[2], 6*time.Second) {
		t.Errorf("slept %v", e.sleeps)
	}
	if len(waits) != 2 || !waits[0].Quota || waits[0].Limited || waits[0].For != e.sleeps[1] || waits[0].Host == "" {
		t.Errorf("shown: %+v", waits)
	}
}

func near(d, want time.Duration) bool { return d <= want && d > want-time.Second }

// Clients of one base URL and key share the stricter limits, in any order.
func TestLimitsStricter(t *testing.T) {
	e := newEndpoint(t, reply("Hello"))
	shared := &openai.Limits{}
	first := e.client(t, limited(shared, model.Limits{RequestsPerMinute: 60}))
	second := e.client(t, limited(shared, model.Limits{RequestsPerMinute: 20}), func(o *openai.Options) { o.BaseURL += "/" })
	third := e.client(t, limited(shared, model.Limits{RequestsPerMinute: 600}))
	other := e.client(t, limited(shared, model.Limits{}), func(o *openai.Options) { o.APIKey = "sk-another-key" })
	for _, c := range []*openai.Client{first, second, third, other, other} {
		if _, err := c.Call(t.Context(), ask("Hello?")); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.sleeps) != 2 || !near(e.sleeps[0], 3*time.Second) || !near(e.sleeps[1], 6*time.Second) {
		t.Errorf("slept %v", e.sleeps)
	}
}

// A lower concurrency holds for the calls that wait already.
func TestLimitsConcurrency(t *testing.T) {
	var now, most atomic.Int64
	arrived, open := make(chan struct{}, 20), make(chan struct{}, 20)
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		arrived <- struct{}{}
		<-open
		now.Add(-1)
		reply("Hello")(w, r)
	})
	shared := &openai.Limits{}
	c := e.client(t, limited(shared, model.Limits{Concurrency: 3}))
	var calls sync.WaitGroup
	for range 9 {
		calls.Go(func() {
			if _, err := c.Call(t.Context(), ask("Hello?")); err != nil {
				t.Error(err)
			}
		})
	}
	for range 3 {
		<-arrived
	}
	e.client(t, limited(shared, model.Limits{Concurrency: 1}))
	for range 3 {
		open <- struct{}{}
	}
	<-arrived // when the three have left
	if most.Load() != 3 {
		t.Errorf("%d at once", most.Load())
	}
	most.Store(0)
	for range 6 {
		open <- struct{}{}
	}
	calls.Wait()
	if most.Load() > 1 {
		t.Errorf("%d at once after the limit of 1", most.Load())
	}
}

// A call that ends while it waits returns its slot.
func TestLimitsCancelled(t *testing.T) {
	e := newEndpoint(t, reply("Hello"))
	cause := errors.New("the attempt is over")
	c := e.client(t, limited(nil, model.Limits{RequestsPerMinute: 1, Concurrency: 1}), func(o *openai.Options) { o.Sleep = nil })
	if _, err := c.Call(t.Context(), ask("Hello?")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		if _, err := c.Call(ctx, ask("Hello?")); err != cause {
			t.Errorf("got %v", err)
		}
	}
	if e.count() != 1 {
		t.Errorf("%d requests", e.count())
	}
}

func TestLimitsTimeoutAndTries(t *testing.T) {
	e := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := e.client(t, limited(nil, model.Limits{Timeout: 30 * time.Millisecond, Tries: 1})).Call(t.Context(), ask("Hello?"))
	var f *model.Failure
	if !errors.As(err, &f) || f.Class != model.TimedOut || e.count() != 1 {
		t.Errorf("got %v after %d requests", err, e.count())
	}
	for _, l := range []model.Limits{{RequestsPerMinute: -1}, {Concurrency: -1}, {Timeout: -1}, {Tries: -1}} {
		if _, err := openai.New(openai.Options{Provider: model.Provider{Name: "house", BaseURL: e.url, Limits: l}}); err == nil {
			t.Errorf("%+v: no error", l)
		}
	}
}
