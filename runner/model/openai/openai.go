// Package openai is models behind an endpoint that speaks the chat completions
// protocol, by way of go-openai: OpenAI's own and the compatible door of many
// others, whose differences are in [model.Provider].
//
// What go-openai carries: it makes the streamed request, holds its connection
// and answer, reads the stream line by line up to its end, and has the
// protocol's words. What goes around it, and why:
//
//   - What is sent. It cannot send temperature 0, members that it does not know
//     or a key in another header, refuses some models by their name, and encodes
//     the whole history again at each turn. A doer of our own, under it, puts the
//     conversation in the request's place, as the bytes that its thread keeps.
//   - A whole answer. It leaves the body of one that comes in chunks unread, so
//     that each call may open a connection. We read it to its end.
//   - The members of an answer. Its types lose the members beside text and calls,
//     which must go back, and one member of an unexpected kind costs the whole
//     answer. We parse an answer with jsontree and take each member by itself, whole
//     answers and chunks in one way. Duplicate names and invalid UTF-8 are failures.
//   - The end. A stream that was cut looks to it like one that ended, and a reason
//     to finish means nothing to it. Here only an answer that says that it ended by
//     itself is one.
//   - Errors. It loses the headers of an answer that is an error, takes comments of
//     a stream for parts of one, and does not know of one within a choice, or of
//     events in several lines.
//
// A failure is never a text, and what was not said completely is a failure. Begin with
// try.go, then reply.go.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
)

// DefaultTimeout is the longest silence of an endpoint before a call ends.
const DefaultTimeout = 5 * time.Minute

// Options say which endpoint is asked and how. The zero value asks OpenAI's
// without a key.
type Options struct {
	Provider    model.Provider // whose endpoint it is; the zero value is OpenAI's, or one that is like it
	BaseURL     string         // with the version's path; wins over the provider's
	APIKey      string         // sent to the base URL's origin and nowhere else; may be empty
	HTTP        *http.Client   // to ask with; nil makes one, over [plain.Transport]. Its redirect policy is not used
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
	url      *url.URL // of chat completions
	shown    string   // the same, for messages
	keyless  bool
	header   http.Header // of every request
	whole    http.Header // of one for an answer that comes whole
	secrets  []string    // what messages must not show
	http     *http.Client
	own      http.RoundTripper // http's, where it is ours: nobody changes what is sent
	timeout  time.Duration
	tries    int
	stream   bool
	gate     *gate
	onWait   func(Wait)
	sleep    func(context.Context, time.Duration) error
	formats  formats
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
		if err := q.encode(); err != nil {
			return c.unsent(paid, err)
		}
		resp, err := c.try(ctx, q)
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
