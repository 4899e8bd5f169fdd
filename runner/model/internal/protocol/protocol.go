// Package protocol is the boundary between the client of package openai and the
// protocols that it speaks. The client sends requests, limits their rate, repeats
// them, reads the events of a stream and judges replies. A [Protocol] encodes requests
// and decodes replies, without input or output.
package protocol

import (
	"context"

	"github.com/seed61713e19/capstan/runner/model"
)

// A Protocol encodes the requests to one provider and decodes its replies. It is safe
// for concurrent use. The headers of a request are [model.Provider.Header].
type Protocol interface {
	// Path returns the path of requests below the base URL.
	Path() string

	// Unsupported returns the parameters that the protocol does not have, as a
	// cascade names them.
	Unsupported() []string

	// Optional returns the members of a request that an endpoint may refuse and
	// that Encode can leave out. The client itself handles the schema, the
	// extras and the cache key.
	Optional(q Query) []Member

	// Encode returns the body of a request. The same query has the same body.
	Encode(q Query) ([]byte, error)

	// Decode decodes a whole reply, which is a JSON object. An error other than
	// [model.Failure] means that the reply cannot be decoded.
	Decode(ctx context.Context, reply []byte) (Draft, error)

	// Stream returns the decoder of one streamed reply.
	Stream() Stream
}

// A Stream decodes the events of one reply. It may keep their data.
type Stream interface {
	// Add adds an event and returns the part of the answer's text in it. The error is
	// [io.EOF] if no event may follow, a [model.Failure] if the event reports an
	// error, and any other error if the event does not decode. The client handles
	// events with the name error.
	Add(ctx context.Context, name string, data []byte) (text string, err error)

	// Ended reports whether the reply is complete, although events may follow,
	// such as the usage. A stream that ends earlier is cut.
	Ended() bool

	// Finish returns the reply from the stream, and the end of the answer's
	// text if Add held it back.
	Finish() (text string, d Draft)
}

// A Member is a member of a request that an endpoint may refuse.
type Member struct {
	Name  string   // as in [Query.Without]
	Words []string // a refusal because of the member contains one of them, in small letters
}

// The forms in which a request asks for an answer that matches its schema, the best
// first. In all but the first, the schema is in the prompt.
const (
	AsSchema = "json_schema" // the schema is a member of the request
	AsObject = "json_object" // a member of the request asks for any object
	AsPrompt = "prompt"
)

// Extras names the members of earlier answers that [Query.Without] may leave out: the
// [model.Extra] of messages and calls.
const Extras = "extras"

// A Query is one request as it is sent.
type Query struct {
	Request  model.Request            // its model as the endpoint names it, its messages as they are sent
	Stream   bool                     // the reply is to be streamed
	Form     string                   // how it asks for the schema; "" if there is none, or the cascade's extra has one
	Strict   bool                     // the schema is in the subset of JSON Schema that strict structured output takes
	CacheKey string                   // names the run for the endpoint's prompt cache; "" for none
	Without  func(member string) bool // reports whether the endpoint does not take a member
}

// MaxCalls is the maximum number of tool calls in one answer.
const MaxCalls = 100

// A Draft is a decoded reply before the client judges it.
type Draft struct {
	ID, Model      string
	Text, Refusal  string
	Thinking       string // no part of Text
	Calls          []model.ToolCall
	Count          int         // of calls, also of those beyond [MaxCalls]
	Extra          model.Extra // goes back with the message to the same provider
	Finish, Native string      // reasons; Native is the reason of the model behind a router
	Answered       bool        // the reply has an answer at all
	Invalid        bool        // a text has invalid UTF-8
	Shape          string      // describes the content of the reply that is no text; "" if there is none
	Usage          Tally
}

// A Tally is the usage that a reply reports.
type Tally struct {
	Input, Output     Count // Input includes tokens that are read from a cache or written to it
	Total             Count
	Cached, Reasoning Count
	CacheWrite        Count
	Cost              *float64 // in US dollars; nil if the endpoint does not report it
}

// A Count is a number of tokens, if it is known.
type Count struct {
	N     int
	Known bool
}
