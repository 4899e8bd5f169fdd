// Package openai is models behind an endpoint that speaks the chat completions
// protocol, by way of go-openai.
//
// Under go-openai stands a doer of our own: a conversation goes out as the
// bytes that its thread keeps, an answer is read to its end so that the
// connection serves again, and what go-openai loses of an answer that is an
// error is kept.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// DefaultBaseURL is the endpoint that is asked where none is named.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options say which endpoint is asked and how. The zero value asks
// [DefaultBaseURL] without a key.
type Options struct {
	BaseURL     string        // with the version's path, as in https://api.openai.com/v1
	APIKey      string        // sent to BaseURL's origin and nowhere else; may be empty
	HTTP        *http.Client  // to ask with; nil makes one. Its redirect policy is not used
	Timeout     time.Duration // of one try, or of the silence before a chunk where it is streamed; 5 minutes
	MaxTries    int           // how often a request is sent at most; [model.Tries]
	Concurrency int           // how many tries are under way at once; 64
	Stream      bool          // stream even where no one listens to the text
	Prices      Prices        // win over those of [DefaultPrices]
	Provider    string        // the name that responses tell; openai

	// Sleep waits between tries; nil means that it takes the time it is told.
	// It returns an error when ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Client is a [model.Model]: all the models of one endpoint, by the names
// that the endpoint gives them. It is safe for concurrent use.
type Client struct {
	url      *url.URL // of chat completions
	key      string
	provider string
	http     *http.Client
	timeout  time.Duration
	tries    int
	stream   bool
	prices   Prices
	gate     *gate
	sleep    func(context.Context, time.Duration) error
	formats  formats
	lacking  lacking
}

// New makes a client. It reads no environment and asks nothing of the
// endpoint.
func New(o Options) (*Client, error) {
	address, err := endpoint(cmp.Or(o.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, err
	}
	key := strings.TrimSpace(o.APIKey)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("api key: has a character that no key has")
	}
	concurrency := cmp.Or(o.Concurrency, 64)
	if concurrency < 0 || o.MaxTries < 0 || o.Timeout < 0 {
		return nil, errors.New("options: concurrency, tries and timeout count from 1")
	}
	sleep := o.Sleep
	if sleep == nil {
		sleep = wait
	}
	return &Client{
		url:      address,
		key:      key,
		provider: cmp.Or(o.Provider, "openai"),
		http:     httpClient(o.HTTP, concurrency),
		timeout:  cmp.Or(o.Timeout, 5*time.Minute),
		tries:    cmp.Or(o.MaxTries, model.Tries),
		stream:   o.Stream,
		prices:   DefaultPrices().With(o.Prices),
		gate:     newGate(concurrency, sleep),
		sleep:    sleep,
	}, nil
}

// endpoint is the address of chat completions below a base URL.
func endpoint(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return nil, fmt.Errorf("base url: %w", errors.Unwrap(err)) // without the text, which may hold a password
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("base url %s: want http:// or https:// and a host", u.Redacted())
	case u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("base url %s: has a user or a fragment", u.Redacted())
	}
	if u.Path == "" {
		u.Path = "/" // JoinPath would not make the path absolute, which HTTP/2 wants
	}
	return u.JoinPath("chat", "completions"), nil
}

// httpClient is a copy of c, or a client that keeps as many idle connections
// as can be in use, that follows redirects within one origin only.
func httpClient(c *http.Client, concurrency int) *http.Client {
	if c == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, concurrency
		t.WriteBufferSize = 32 << 10
		c = &http.Client{Transport: t}
	}
	copied := *c
	copied.CheckRedirect = sameOrigin
	return &copied
}

func sameOrigin(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// Priced says whether calls of the named model get a cost.
func (c *Client) Priced(name string) bool {
	_, ok := c.prices.find(name)
	return ok
}

// Call asks the endpoint, up to MaxTries times while what goes wrong may pass:
// 408, 409, 425, 429, 5xx, a connection that fails or stays silent, an answer
// that is cut, broken or empty. Between tries it waits, twice as long each
// time, or as the endpoint asks, but a minute at most; where the endpoint
// limits the rate all calls wait. Any failure is a [*model.Failure]; its
// message never has the key in it.
//
// With OnText the answer is streamed, and a try that follows one whose text
// was heard already begins with an empty piece. Tokens that the endpoint does
// not report are estimated as a quarter of the bytes; cost is from the prices,
// and 0 for a model that has none.
func (c *Client) Call(ctx context.Context, r model.Request) (model.Response, error) {
	q, err := c.question(r)
	if err != nil {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: err.Error()}
	}
	var paid model.Usage
	for try := 1; ; {
		resp, err := c.try(ctx, q)
		paid = paid.Add(resp.Usage)
		resp.Usage = paid
		if err == nil {
			c.lacking.learn(q.lacks)
			return resp, nil
		}
		var f *model.Failure
		switch {
		case ctx.Err() != nil:
			return resp, context.Cause(ctx)
		case !errors.As(err, &f):
			return resp, err
		case q.giveUp(f):
			continue
		case !f.Temporary() || try == c.tries:
			return resp, f
		}
		if err := c.pause(ctx, try, f); err != nil {
			return resp, err
		}
		try++
	}
}
