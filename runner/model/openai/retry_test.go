package openai_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func TestRetryAfter(t *testing.T) {
	tests := map[string]struct {
		status      int
		headers     []string
		least, most time.Duration
	}{
		"seconds":         {429, []string{"Retry-After", "7"}, 4 * time.Second, 7 * time.Second},
		"milliseconds":    {429, []string{"Retry-After-Ms", "2500", "Retry-After", "3"}, 1 * time.Second, 2500 * time.Millisecond},
		"date":            {429, []string{"Retry-After", time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat)}, 1 * time.Second, 20 * time.Second},
		"two minutes":     {429, []string{"Retry-After", "120"}, 110 * time.Second, 2 * time.Minute},
		"nonsense":        {429, []string{"Retry-After", "soon"}, 200 * time.Millisecond, 500 * time.Millisecond},
		"past":            {429, []string{"Retry-After", "-5"}, 200 * time.Millisecond, 500 * time.Millisecond},
		"not a number":    {429, []string{"Retry-After", "NaN"}, 200 * time.Millisecond, 500 * time.Millisecond},
		"unavailable":     {503, []string{"Retry-After", "7"}, 4 * time.Second, 7 * time.Second},
		"requests":        {429, []string{"X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6s", "X-Ratelimit-Remaining-Tokens", "5", "X-Ratelimit-Reset-Tokens", "30s"}, 1 * time.Second, 6 * time.Second},
		"in the body":     {429, nil, 1 * time.Second, 7500 * time.Millisecond},
		"other details":   {429, nil, 200 * time.Millisecond, 500 * time.Millisecond},
		"less than none":  {429, nil, 200 * time.Millisecond, 500 * time.Millisecond},
		"nothing is said": {500, nil, 200 * time.Millisecond, 500 * time.Millisecond},
	}
	bodies := map[string]string{ // as Google has them
		"in the body":    `[{"error":{"code":429,"message":"quota","details":[{"@type":"type.googleapis.com/google.rpc.Help","links":[]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7.5s"}]}}]`,
		"other details":  `{"error":{"message":"quota","details":"retryDelay"}}`,
		"less than none": `{"error":{"message":"quota","details":[{"retryDelay":"-3s"},{"retryDelay":7}]}}`,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, body(test.status, cmp.Or(bodies[name], `{"error":{"message":"later"}}`), test.headers...), reply("Hello"))
			resp, err := e.client(t).Call(t.Context(), ask("Hello?"))
			if err != nil || resp.Text != "Hello" || resp.Usage.Calls != 2 {
				t.Fatalf("got %+v, %v", resp, err)
			}
			if len(e.sleeps) != 1 || e.sleeps[0] < test.least || e.sleeps[0] > test.most {
				t.Errorf("slept %v", e.sleeps)
			}
			if e.bodies[0] != e.bodies[1] {
				t.Error("the second request is not the first")
			}
		})
	}
}

func TestBackoffGrows(t *testing.T) {
	e := newEndpoint(t, body(500, ""))
	c := e.client(t, func(o *openai.Options) { o.MaxTries = 9 })
	if _, err := c.Call(t.Context(), ask("Hello?")); err == nil || e.count() != 9 {
		t.Fatalf("%v after %d", err, e.count())
	}
	most := 500 * time.Millisecond
	for i, d := range e.sleeps {
		if d < most/2 || d > most {
			t.Errorf("wait %d is %v, want up to %v", i, d, most)
		}
		most = min(2*most, 16*time.Second)
	}
}

func TestFailureSaysWhen(t *testing.T) {
	for after, want := range map[string]time.Duration{"3600": time.Hour, "1e300": 24 * time.Hour, "121": 121 * time.Second} {
		for _, status := range []int{429, 503} {
			e := newEndpoint(t, body(status, `{"error":{"message":"later"}}`, "Retry-After", after), reply("Hello"))
			_, err := e.client(t).Call(t.Context(), ask("Hello?"))
			var f *model.Failure
			if !errors.As(err, &f) || f.RetryAfter != want || len(e.sleeps) != 0 || e.count() != 1 ||
				!strings.Contains(f.Message, "asks to wait "+want.String()+", and the longest wait is 2m0s: later") {
				t.Errorf("%s: got %v after %d", after, err, e.count())
			}
		}
	}
}

// After a 429, other calls wait too.
func TestEveryoneWaits(t *testing.T) {
	e := newEndpoint(t, body(429, `{}`, "Retry-After", "30"), reply("Hello"))
	waiting, awake := make(chan time.Duration), make(chan struct{})
	c := e.client(t, func(o *openai.Options) {
		o.Sleep = func(_ context.Context, d time.Duration) error {
			select {
			case waiting <- d:
				<-awake
			case <-awake: // the rate spreads the two
			}
			return nil
		}
	})
	results := make(chan error)
	call := func() { _, err := c.Call(t.Context(), ask("Hello?")); results <- err }
	go call()
	<-waiting // the call with the 429
	go call()
	if d := <-waiting; d < time.Second || d > 30*time.Second || e.count() != 1 {
		t.Errorf("the other waits %v, after %d requests", d, e.count())
	}
	close(awake)
	if a, b := <-results, <-results; a != nil || b != nil || e.count() != 3 {
		t.Errorf("got %v, %v after %d requests", a, b, e.count())
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	for _, status := range []int{429, 500} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
			body(status, `{}`, "Retry-After", "30")(w, r)
		})
		c := e.client(t, func(o *openai.Options) {
			o.Sleep = nil // the real one
			o.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				defer time.AfterFunc(time.Millisecond, func() { cancel(cause) })
				return http.DefaultTransport.RoundTrip(r)
			})}
		})
		resp, err := c.Call(ctx, ask("Hello?"))
		if err != cause || e.count() > 1 {
			t.Errorf("got %+v, %v after %d requests", resp, err, e.count())
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// perWindow is an endpoint with a limit of n requests per window. Other
// requests get a 429 with the window as the wait.
func perWindow(n int, window time.Duration, served *atomic.Int64) http.HandlerFunc {
	var mu sync.Mutex
	var began time.Time
	count := 0
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if now := time.Now(); now.Sub(began) >= window {
			began, count = now, 0
		}
		count++
		taken := count <= n
		mu.Unlock()
		if !taken {
			body(429, `{"error":{"message":"slow down"}}`, "Retry-After-Ms", strconv.FormatInt(window.Milliseconds(), 10))(w, r)
			return
		}
		served.Add(1)
		reply("Hello")(w, r)
	}
}

// All calls of a wide batch succeed at an endpoint that limits the rate, with two
// clients that have the endpoint's limit in common.
func TestRateLimitSpread(t *testing.T) {
	t.Parallel()
	rows, window := 30, time.Second
	if os.Getenv("CAPSTAN_SLOW") != "" {
		rows = 300
	}
	var served atomic.Int64
	e := newEndpoint(t, perWindow(10, window, &served))
	limits := &openai.Limits{}
	var waits atomic.Int64
	own := func(o *openai.Options) {
		o.Sleep, o.Limits = nil, limits
		o.OnWait = func(w openai.Wait) {
			if w.Limited && w.Host != "" && w.For > 0 {
				waits.Add(1)
			}
		}
	}
	clients := []*openai.Client{e.client(t, own), e.client(t, own)}
	var wg sync.WaitGroup
	slots, began := make(chan struct{}, 64), time.Now()
	for i := range rows {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if _, err := clients[i%2].Call(t.Context(), ask("Hello?")); err != nil {
				t.Errorf("row %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d rows in %s with %d requests", rows, time.Since(began), e.count())
	if served.Load() != int64(rows) || waits.Load() == 0 {
		t.Errorf("%d answers after %d waits", served.Load(), waits.Load())
	}
	if refused := e.count() - rows; refused > rows*2 {
		t.Errorf("%d requests were refused", refused)
	}
}

// A call ends when the endpoint has rejected it for twice the timeout. The
// failure names the endpoint.
func TestRateLimitGivesUp(t *testing.T) {
	e := newEndpoint(t, body(429, `{"error":{"message":"slow down"}}`, "Retry-After", "10"))
	_, err := e.client(t, func(o *openai.Options) { o.Timeout = time.Minute }).Call(t.Context(), ask("Hello?"))
	if want := strings.TrimPrefix(e.url, "http://"); err == nil || !strings.Contains(err.Error(), strings.Split(want, "/")[0]+" limits the rate, and 2m0s of waiting did not help") {
		t.Errorf("got %v", err)
	}
	if n := e.count(); n != 12+model.Tries {
		t.Errorf("%d requests", n)
	}
}

// A try that ended in silence is repeated once.
func TestSilenceRepeatedOnce(t *testing.T) {
	quiet := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	e := newEndpoint(t, quiet)
	_, err := e.client(t, func(o *openai.Options) { o.Timeout = 50 * time.Millisecond }).Call(t.Context(), ask("Hello?"))
	var f *model.Failure
	if !errors.As(err, &f) || f.Class != model.TimedOut || e.count() != 2 {
		t.Errorf("got %v after %d requests", err, e.count())
	}
}

// The failure for an untrusted certificate contains the solution.
func TestUnknownAuthority(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	c, err := openai.New(openai.Options{BaseURL: s.URL, APIKey: "k", MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), ask("Hello?")); err == nil || !strings.Contains(err.Error(), "has a certificate of an unknown authority: add the authority's certificate") {
		t.Errorf("got %v", err)
	}
}
