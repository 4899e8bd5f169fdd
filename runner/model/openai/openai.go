// Package openai sends requests to the endpoints of models. A [model.Provider]
// describes an
// endpoint. The answer is a [model.Response], or a [*model.Failure] that is
// never a text.
//
// A [Router] calls all providers by the prefix of a model's name, and a
// [Client] the models of one
// endpoint. For example:
//
//	m := openai.NewRouter(os.Getenv, openai.Options{})
//	resp, err := m.Call(ctx, model.Request{Model: "ollama:llama3.2", Messages: messages})
//
// The client sends a request with net/http, retries it, obeys the rate limit
// and checks the answer.
// A protocol encodes the request and decodes the answer: chat completions
// (chat.go) and Responses
// (responses.go) with the types of go-openai, or Messages (package anthropic).
// Some members have
// their own code:
//
//   - The types omit 0 and "", so some members of a request replace theirs. The thread of a
//
// conversation encodes its messages once.
//   - The types lose unknown members of an answer, which later requests send back, and characters
//
// that are divided between two events. Many endpoints imitate chat completions,
// so that
// protocol is decoded member by member. Duplicate names and invalid UTF-8 are
// failures.
//
// An answer must have the finish reason of a complete answer. Begin with
// openai.go and try.go.
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

// DefaultTimeout is the default time without data after which a call ends.
const DefaultTimeout = 5 * time.Minute

// Options configure a client. The zero value calls OpenAI's endpoint without a
// key.
type Options struct {
	Provider    model.Provider // the provider; the zero value is OpenAI, or an endpoint with its protocol
	BaseURL     string         // with the path of the version; replaces that of the provider
	APIKey      string         // the key, sent only to the origin of the base URL; may be empty
	HTTP        *http.Client   // the HTTP client; nil for a new one. Its redirect policy is not used
	Timeout     time.Duration  // the limit for a request, or for the time between two chunks of a stream; 0 for the provider's limit, or DefaultTimeout
	MaxTries    int            // the maximum number of requests for one call; 0 for the provider's limit, or [model.Tries]
	Concurrency int            // the maximum number of parallel requests; 0 for the provider's limit, or 64
	Stream      bool           // stream answers also without OnText

	Limits *Limits    // shared by the clients of an endpoint; nil for a limit of one client
	OnWait func(Wait) // called before a long pause and before a pause that the endpoint requests; may be nil

	// Sleep waits between tries. It returns an error if ctx ends first. The
	// default is [model.Wait].
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Client is a [model.Model] with the models of one endpoint, by the
// endpoint's names. It is safe
// for concurrent use.
type Client struct {
	provider model.Provider
	protocol protocol.Protocol
	url      *url.URL // the address of requests
	shown    string   // the address for messages
	keyless  bool
	header   http.Header // the headers of every request
	secrets  []string    // the texts that messages must not contain
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

// Priced reports whether calls of the named model have a cost.
func (c *Client) Priced(name string) bool {
	_, ok := c.provider.Price(name)
	return ok || c.provider.Costs
}

// Call sends the request to the endpoint. It retries temporary errors up to
// MaxTries times: status
// 408, 409, 425, 429 and 5xx, a lost connection, and an answer that is cut,
// broken or empty. It
// doubles the wait after each try, or waits as long as the endpoint asks. If
// that is more than two
// minutes, the call ends.
//
// If the endpoint limits the rate, all calls share a rate that follows its
// refusals. A refusal with
// a time to wait does not count as a try, unless there is a fallback model. The
// total wait is twice
// the timeout at most. A try that ended at the timeout is repeated once.
//
// Each error is a [*model.Failure] without the key. An incomplete answer is a
// failure. The limits
// of an answer are 64 MiB, 1,000,000 JSON values and 100 tool calls, and for a
// stream also half a
// million events of 16 MiB.
//
// If the endpoint rejects a parameter, the failure has its message. If it
// rejects a response format
// or the unknown members of earlier answers, Call repeats the request without
// them and reports them
// in [model.Response.Without]. The client stores this for the endpoint and
// model. A schema that is
// not in the response format goes into the first message.
//
// With OnText, the answer is streamed. If a try fails after some text, the next
// one begins with an
// empty piece. Missing token counts are estimated from the number of bytes. The
// cost is that of the
// endpoint, or else computed from the prices.
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
		resp.Usage, resp.Without = paid, q.omitted()
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

// unsent returns the failure of a request that cannot be encoded.
func (c *Client) unsent(paid model.Usage, err error) (model.Response, error) {
	failure := &model.Failure{Class: model.Rejected, Message: err.Error()}
	return model.Response{Provider: c.provider.Name, Server: c.url.Host, Usage: paid}, failure
}

// spent returns the failure of a call without a further try.
func (c *Client) spent(f *model.Failure, waited time.Duration) *model.Failure {
	if waited > 0 {
		last := *f
		last.Message = fmt.Sprintf("%s limits the rate, and %s of waiting did not help: %s",
			c.url.Host, waited.Round(time.Millisecond), f.Message)
		return &last
	}
	return f
}
