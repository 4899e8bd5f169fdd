// Package model defines the interface between a cascade and a language model.
//
// A [Model] gets a [Request]: the messages of a conversation, the tools, the schema of
// the output and the parameters. It returns a [Response] with the text, the calls of
// tools and the [Usage], or a [*Failure]. For example, this model answers every request
// with the same text:
//
//	m := model.Func(func(context.Context, model.Request) (model.Response, error) {
//		return model.Response{Text: "Hello"}, nil
//	})
//
// The package also describes endpoints: a [Provider] has the address, the protocol, the
// [Limits] and the [Prices]. Package openai sends requests to providers, and package
// scripted answers from a file. Begin with model.go. [Thread] stores the encoded
// messages of a conversation, so that later requests begin with the same bytes.
// [Conversations] resolves references to messages.
package model

import (
	"context"
	"encoding/json"
)

// A Model answers requests. It must be safe for concurrent use.
//
// If the endpoint returns no answer after all retries, the error is a [*Failure] and
// the Response has the usage of the failed requests. If ctx ends, Call returns the
// error of ctx.
//
// The model must not change the values that a request points to. The caller must not
// change the values that a response points to.
type Model interface {
	Call(ctx context.Context, r Request) (Response, error)
}

// A Readier is a model that can check its configuration before the first call.
type Readier interface {
	// Ready returns an error if the named model cannot be called, for example without
	// the key of its provider. It sends no request.
	Ready(name string) error
}

// A Recaller is a model that is notified of requests with an answer in the
// journal of a run.
type Recaller interface {
	Recall(r Request)
}

// A Host is a model that can call the providers of a cascade.
type Host interface {
	// Provide returns a model that also calls the providers in the list. It does not
	// change the host.
	Provide(list []Provider) Model
}

// Func is a function that implements [Model].
type Func func(ctx context.Context, r Request) (Response, error)

// Call returns f(ctx, r).
func (f Func) Call(ctx context.Context, r Request) (Response, error) { return f(ctx, r) }

// A Request is a call of a model.
type Request struct {
	Model        string          `json:"model"` // as in the cascade; a [Model] of one provider gets it without the prefix
	Messages     []Message       `json:"messages"`
	Conversation string          `json:"conversation,omitempty"` // the reference to the messages if Messages is empty, see [Request.Refer]
	Tools        []Tool          `json:"tools,omitempty"`
	Schema       json.RawMessage `json:"schema,omitempty"` // the JSON Schema of the answer
	Params       *Params         `json:"params,omitempty"`

	Phase     string `json:"phase,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
	Turn      int    `json:"turn"`
	Validator string `json:"validator,omitempty"` // set if a judge calls the model
	Role      string `json:"role,omitempty"`      // "evaluator" if the evaluator of soundings calls the model
	Key       string `json:"-"`                   // the run and the path, as an idempotency key
	Run       string `json:"-"`                   // the run, as a key for prompt caches

	// More reserves another request to the endpoint. It returns the budget that does
	// not allow the request, or "". It may be nil.
	More func() (bound string) `json:"-"`
	Left int                   `json:"-"` // the calls that the budget allowed at the start of the request; 0 for no limit

	Next   bool         `json:"-"` // reports whether a fallback model is called after a failure, so that the provider need not wait for its rate limit
	Thread *Thread      `json:"-"` // the conversation with the Messages; may be nil
	OnText func(string) `json:"-"` // is called with each piece of the streamed text; may be nil. An empty piece discards the pieces before it
}

// A Role is the author of a message.
type Role string

// The roles of messages.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// A Message is one message of a conversation. Its JSON is that of the chat completions
// protocol with a separate member for Extra. [Request.Wire] returns the form for an
// endpoint.
type Message struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Extra      Extra      `json:"extra,omitempty"`    // members that are sent back to Provider unchanged
	Provider   string     `json:"provider,omitempty"` // the provider of Extra and of the calls; "" if there are none

	// CacheEnd reports whether other requests begin with the conversation up to this
	// message. Endpoints with explicit cache marks get one after the message.
	CacheEnd bool `json:"-"`
}

// A ToolCall is a request of the model to call a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON as the model wrote it, possibly invalid
	Extra     Extra  // members that are sent back with the call
}

type wireCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
	Extra    Extra        `json:"extra,omitempty"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// MarshalJSON returns the form of the chat completions protocol with a separate
// member for Extra.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireCall{c.ID, "function", wireFunction{c.Name, c.Arguments}, c.Extra})
}

// UnmarshalJSON decodes the form of MarshalJSON.
func (c *ToolCall) UnmarshalJSON(text []byte) error {
	var w wireCall
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*c = ToolCall{w.ID, w.Function.Name, w.Function.Arguments, w.Extra}
	return nil
}

// A Tool describes a tool to the model.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"` // a JSON Schema
}

// A Response is the answer of a model. Fields that the endpoint did not report
// are empty.
type Response struct {
	Text      string     `json:"text"`
	Thinking  string     `json:"thinking,omitempty"` // the thoughts of the model, see [Response.WithoutThinking]
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Extra     Extra      `json:"extra,omitempty"`    // the members of the answer that later requests send back
	Model     string     `json:"model,omitempty"`    // the name of the model as the endpoint reports it
	Finish    string     `json:"finish,omitempty"`   // the finish reason of the endpoint, such as stop, tool_calls or length
	ID        string     `json:"id,omitempty"`       // the id of the answer
	Provider  string     `json:"provider,omitempty"` // the provider, such as openai, anthropic or scripted
	Server    string     `json:"server,omitempty"`   // the host of the endpoint, with the port of its URL
	Without   []string   `json:"without,omitempty"`  // the members that the endpoint rejected, such as response_format
	Usage     Usage      `json:"usage"`
	Failure   *Failure   `json:"failure,omitempty"` // set by hosts instead of an error; nil in the answer of a Model
}

// Message returns the answer as a message of the conversation. The thinking is the
// content if there is no other, because endpoints reject empty messages.
func (r Response) Message() Message {
	content := r.Text
	if content == "" && len(r.ToolCalls) == 0 {
		content = r.Thinking
	}
	m := Message{Role: Assistant, Content: content, ToolCalls: r.ToolCalls, Extra: r.Extra}
	if m.Extra != "" || len(m.ToolCalls) > 0 {
		m.Provider = r.Provider
	}
	return m
}
