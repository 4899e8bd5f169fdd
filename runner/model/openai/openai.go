// Package openai sends requests to the endpoints of models. [model.Provider] describes an
// endpoint.
//
// The client sends a request over net/http, repeats it, obeys the rate limit and judges
// the answer. A protocol, from package protocol, encodes the request and decodes the
// answer: chat completions (chat.go) and Responses (responses.go), over the types
// of go-openai, or Messages (package anthropic). The types do not hold everything:
//
//   - They leave out 0 and "", so that some members of a request replace theirs. The
//     messages of a conversation are encoded once by its thread, and appended.
//   - They lose the unknown members of an answer, which must go back, and characters that
//     begin in one event and end in another. One member of an unexpected kind costs the
//     whole answer. Chat completions, which many endpoints imitate, are therefore read
//     member by member. Duplicate names and invalid UTF-8 are failures.
//
// Only an answer that ended by itself is one. A failure is never a text. Begin with try.go.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// DefaultTimeout is the longest silence of an endpoint before a call ends.
const DefaultTimeout = 5 * time.Minute

// Options say which endpoint is asked and how. The zero value asks OpenAI's
// without a key.
type Options struct {
	Provider    model.Provider // whose endpoint it is; the zero value is OpenAI's, or one that is like it
	BaseURL     string         // with the version's path; wins over the provider's
	APIKey      string         // sent to the base URL's origin and nowhere else; may be empty
	HTTP        *http.Client   // to ask with; nil makes one. Its redirect policy is not used
	Timeout     time.Duration  // of one try, or of the silence before a chunk where it is streamed; 0 is the provider's, or DefaultTimeout
	MaxTries    int            // how often a request is sent at most; 0 is the provider's, or [model.Tries]
	Concurrency int            // how many tries are under way at once; 0 is the provider's, or 64
	Stream      bool           // stream even where no one listens to the text

	Limits *Limits    // of all clients that ask the endpoint; nil for a limit of the client's own
	OnWait func(Wait) // is called before a pause that is long or that the endpoint asks for; may be nil

	// Sleep waits between tries; nil means that it takes the time it is told.
	// It returns an error when ctx ends first.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Client is a [model.Model]: all the models of one endpoint, by the names
// that the endpoint gives them. It is safe for concurrent use.
type Client struct {
	provider model.Provider
	protocol protocol.Protocol
	url      *url.URL // of requests
	shown    string   // the same, for messages
	keyless  bool
	header   http.Header // of every request
	secrets  []string    // what messages must not show
	http     *http.Client
	timeout  time.Duration
	tries    int
	stream   bool
	gate     *gate
	onWait   func(Wait)
	sleep    func(context.Context, time.Duration) error
	lacking  lacking
	most     bounds
}

// Priced says whether calls of the named model get a cost.
func (c *Client) Priced(name string) bool {
	_, ok := c.provider.Price(name)
	return ok || c.provider.Costs
}

// Call asks the endpoint, up to MaxTries times while what goes wrong may pass:
// 408, 409, 425, 429, 5xx, a connection that fails or stays silent, an answer
// that is cut, broken or empty. Between tries it waits, twice as long each
// time, or as long as the endpoint asks. If it asks for more than two minutes, the
// call ends. Where the endpoint limits the rate all calls wait, at a rate that follows
// its refusals, and a refusal that says when to come back uses up no try, unless another
// model comes next: a call waits twice Timeout in all. A try that ended in silence is
// repeated once. Any failure is a [*model.Failure]; its
// message never has the key in it.
//
// An answer that did not end by itself, as its finish reason says, is a
// failure, and so is one beyond the limits: 64 MiB, 1,000,000 JSON values, of a
// stream also half a million events of 16 MiB, or 100 tool calls. A parameter that the endpoint
// refuses is a failure that has its words. What the answer can do without is
// left out and the request sent again, which the response tells: a response format
// that the endpoint does not take, also where it refuses it in vague words or with
// 500, and what earlier answers carried beside text and calls. That is
// remembered for the endpoint and model. A schema that is not in the response format
// goes into the first message.
//
// With OnText the answer is streamed, and a try that follows one whose text
// was heard already begins with an empty piece. Tokens that the endpoint does
// not report are estimated as a quarter of the bytes, which the usage tells;
// cost is what the endpoint reports, or else from the prices, and 0 for a model
// that has none.
func (c *Client) Call(ctx context.Context, r model.Request) (model.Response, error) {
	q, err := c.question(r)
	if err != nil {
		return c.unsent(model.Usage{}, err)
	}
	var paid model.Usage
	var waited time.Duration // for the rate limit
	silent := 0
	for try := 1; ; {
		body, err := c.protocol.Encode(q.query())
		if err != nil {
			return c.unsent(paid, err)
		}
		resp, err := c.try(ctx, q, body)
		paid = paid.Add(resp.Usage)
		resp.Usage, resp.Without = paid, q.told()
		if err == nil {
			c.lacking.learn(q)
			return resp, nil
		}
		q.acquit()
		var f *model.Failure
		switch {
		case ctx.Err() != nil:
			return resp, context.Cause(ctx)
		case !errors.As(err, &f):
			return resp, err
		case q.giveUp(f):
			if over := model.Again(r, f); over != nil {
				return resp, over
			}
			continue
		case f.RetryAfter > mostWait:
			f.Message = fmt.Sprintf("the endpoint asks to wait %s, and the longest wait is %s: %s",
				f.RetryAfter.Round(time.Second), mostWait, f.Message)
			return resp, f
		case !f.Temporary():
			return resp, f
		}
		if f.Class == model.TimedOut && f.Status == 0 {
			silent++
		}
		free, d := c.free(q, f, waited), backoff(try, f)
		switch {
		case !free && (try == c.tries || silent == silences):
			return resp, c.spent(f, waited)
		case free:
			waited += d
		default:
			try++
		}
		if over := model.Again(r, f); over != nil {
			return resp, over
		}
		if err := c.pause(ctx, d, f); err != nil {
			return resp, err
		}
	}
}

// unsent returns the failure of a request that cannot be written.
func (c *Client) unsent(paid model.Usage, why error) (model.Response, error) {
	failure := &model.Failure{Class: model.Rejected, Message: why.Error()}
	return model.Response{Provider: c.provider.Name, Server: c.url.Host, Usage: paid}, failure
}

// spent returns the failure of a call that has no try left.
func (c *Client) spent(f *model.Failure, waited time.Duration) *model.Failure {
	if waited > 0 {
		last := *f
		last.Message = fmt.Sprintf("%s limits the rate, and %s of waiting did not help: %s",
			c.url.Host, waited.Round(time.Millisecond), f.Message)
		return &last
	}
	return f
}
