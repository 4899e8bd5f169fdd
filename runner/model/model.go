// Package model says what a language model is to a cascade: something that
// answers a conversation. The providers are in the folders below.
package model

import (
	"context"
	"encoding/json"
)

// A Model answers requests. It is safe for concurrent use.
//
// An error is a *[Failure] where the model or its endpoint did not give an
// answer, after whatever retries the provider makes of its own; the Response
// then carries the usage that was paid for all the same. When ctx ends, Call
// returns its error.
//
// What a request points to is shared with other calls, and what a response
// points to is kept: neither may be changed.
type Model interface {
	Call(ctx context.Context, r Request) (Response, error)
}

// A Readier is a model that knows before it is asked whether it can be.
type Readier interface {
	// Ready says why calls of the named model cannot be made: the key of its
	// provider is missing. It asks nobody.
	Ready(name string) error
}

// A Recaller is a model that is to know of requests that were answered from a
// run's journal in its place.
type Recaller interface {
	Recall(r Request)
}

// A Host is a model that asks providers.
type Host interface {
	// Provide is the model for a cascade that brings providers along: it asks them
	// too. The host itself, and what it was for other cascades, stay as they are.
	Provide(list []Provider) Model
}

// Func makes a function a [Model].
type Func func(ctx context.Context, r Request) (Response, error)

// Call calls f.
func (f Func) Call(ctx context.Context, r Request) (Response, error) { return f(ctx, r) }

// A Request is one question to a model, with who asks it.
type Request struct {
	Model    string          `json:"model"` // as the cascade names it, without the provider's prefix once it is routed
	Messages []Message       `json:"messages"`
	Talk     string          `json:"talk,omitempty"` // Messages, where they stand elsewhere: see [Request.Refer]
	Tools    []Tool          `json:"tools,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"` // JSON Schema that the answer is to follow, where the endpoint can
	Params   *Params         `json:"params,omitempty"`

	Phase     string `json:"phase,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
	Turn      int    `json:"turn"`
	Validator string `json:"validator,omitempty"` // set when a judge calls
	Role      string `json:"role,omitempty"`      // "evaluator" when a sounding's evaluator calls
	Key       string `json:"-"`                   // the run and the path: an idempotency key
	Run       string `json:"-"`                   // the run alone: who caches prompts may keep its requests together

	// More reserves one more call before the request is sent to the endpoint again, and
	// returns the bound of the budget that forbids it, "" if none does. It may be nil.
	More func() (bound string) `json:"-"`
	Left int                   `json:"-"` // the calls that the budget left for the request when it began; 0 for no limit

	Next   bool         `json:"-"` // another model is asked if this one does not answer: a provider need not wait for its rate limit
	Thread *Thread      `json:"-"` // where Messages come from, for encoding them once; may be nil
	OnText func(string) `json:"-"` // gets the reply's text as it arrives; may be nil. An empty piece says that it begins anew
}

// A Role says who speaks in a conversation.
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolReply Role = "tool"
)

// A Message is one message of a conversation. Its JSON is that of the chat
// completions protocol, with what is extra in a member of its own; to an
// endpoint it goes as [Request.Wire] has it.
type Message struct {
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Extra      Extra      `json:"extra,omitempty"`    // goes back to Provider as it came
	Provider   string     `json:"provider,omitempty"` // whose Extra is, and the calls; "" where there is neither

	// CacheEnd reports whether the conversation up to the end of this message is the beginning of
	// other requests too. Endpoints that cache where they are asked to are asked here.
	CacheEnd bool `json:"-"`
}

// A ToolCall is a model's wish to have a tool called.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON as the model wrote it, which may be broken
	Extra     Extra  // goes back with the call
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

// MarshalJSON writes the chat completions protocol's form, with what is extra
// in a member of its own.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireCall{c.ID, "function", wireFunction{c.Name, c.Arguments}, c.Extra})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *ToolCall) UnmarshalJSON(text []byte) error {
	var w wireCall
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*c = ToolCall{w.ID, w.Function.Name, w.Function.Arguments, w.Extra}
	return nil
}

// A Tool is what a model is told of a tool it may call.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"` // JSON Schema
}

// A Response is a model's answer. What it tells beside the text and the calls is
// as the endpoint told it, and empty where it told nothing.
type Response struct {
	Text      string     `json:"text"`
	Thinking  string     `json:"thinking,omitempty"` // cut out of Text; see [Response.WithoutThinking]
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Extra     Extra      `json:"extra,omitempty"`    // what it carries beside them
	Model     string     `json:"model,omitempty"`    // the model that answered, as the endpoint names it
	Finish    string     `json:"finish,omitempty"`   // why it ended, in the endpoint's word: stop, tool_calls, length
	ID        string     `json:"id,omitempty"`       // of the answer
	Provider  string     `json:"provider,omitempty"` // who was asked: openai, anthropic, scripted
	Server    string     `json:"server,omitempty"`   // the endpoint's host, with its port where the URL has one
	Without   []string   `json:"without,omitempty"`  // what the endpoint did not take and was left out: response_format
	Usage     Usage      `json:"usage"`
	Failure   *Failure   `json:"failure,omitempty"` // set by hosts in place of an error; nil from a Model
}

// Message returns the answer as a conversation continues with it. An answer that is
// only thinking stays in the conversation, because endpoints refuse empty messages.
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
