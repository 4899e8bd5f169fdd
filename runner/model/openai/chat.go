package openai

import (
	"context"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// doneEvent is the data of the event after the last chunk.
const doneEvent = "[DONE]"

// chat is the chat completions protocol with the special cases of a provider.
type chat struct{ provider model.Provider }

// Path implements [protocol.Protocol].
func (chat) Path() string { return "chat/completions" }

// Unsupported implements [protocol.Protocol].
func (chat) Unsupported() []string { return nil }

// Optional implements [protocol.Protocol].
func (c chat) Optional(q protocol.Query) (list []protocol.Member) {
	if q.Stream {
		list = append(list, protocol.Member{Name: usageField, Words: []string{usageField, "include_usage"}})
	}
	if q.Request.Params != nil && q.Request.Params.MaxOutputTokens > 0 {
		list = append(list, protocol.Member{Name: limitField, Words: []string{c.limit(q.Without)}})
	}
	return list
}

const (
	usageField = "stream_options"
	limitField = "max_output_tokens"
)

// Decode implements [protocol.Protocol].
func (c chat) Decode(ctx context.Context, reply []byte) (protocol.Draft, error) {
	a := assembly{whole: true, normal: c.provider.Finish}
	if _, err := a.take(ctx, reply); err != nil {
		return protocol.Draft{}, err
	}
	_, d := a.Finish()
	return d, nil
}

// Stream implements [protocol.Protocol].
func (c chat) Stream() protocol.Stream { return &assembly{normal: c.provider.Finish} }

// chatRequest is a request without its messages. Its members replace those of
// go-openai that leave out 0, have another type or are always sent.
type chatRequest struct {
	api.ChatCompletionRequest
	Messages       []struct{} `json:"messages,omitempty"`
	Tools          []chatTool `json:"tools,omitempty"`
	Temperature    *float64   `json:"temperature,omitempty"`
	TopP           *float64   `json:"top_p,omitempty"`
	Seed           *int64     `json:"seed,omitempty"`
	Stream         bool       `json:"stream,omitempty"`
	PromptCacheKey string     `json:"prompt_cache_key,omitempty"`
}

type chatTool struct {
	Type     api.ToolType `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	api.FunctionDefinition
	Parameters any `json:"parameters,omitempty"`
}

// Encode implements [protocol.Protocol]. The messages come last, so that the requests of
// a conversation begin with the same bytes.
func (c chat) Encode(q protocol.Query) ([]byte, error) {
	to := c.provider
	if q.Without(protocol.Extras) {
		to = model.Provider{}
	}
	messages, err := q.Request.Wire(to)
	if err != nil {
		return nil, err
	}
	request := chatRequest{Stream: q.Stream, PromptCacheKey: q.CacheKey}
	request.Model = q.Request.Model
	for _, t := range q.Request.Tools {
		function := chatFunction{api.FunctionDefinition{Name: t.Name, Description: t.Description}, t.Parameters}
		request.Tools = append(request.Tools, chatTool{api.ToolTypeFunction, function})
	}
	request.ResponseFormat = responseFormat(q)
	if q.Stream && !q.Without(usageField) {
		request.StreamOptions = &api.StreamOptions{IncludeUsage: true}
	}
	var extra model.Extra
	if p := q.Request.Params; p != nil {
		request.Temperature, request.TopP, request.Seed = p.Temperature, p.TopP, p.Seed
		request.ReasoningEffort, request.Stop, extra = p.Effort, p.Stop, p.Extra
		if c.limit(q.Without) == "max_tokens" {
			//lint:ignore SA1019 most other endpoints know only this name
			request.MaxTokens = p.MaxOutputTokens
		} else {
			request.MaxCompletionTokens = p.MaxOutputTokens
		}
	}
	object, err := protocol.Encode(request)
	if err != nil {
		return nil, err
	}
	if object, err = protocol.Merge(object, extra); err != nil {
		return nil, err
	}
	return slices.Concat(object[:len(object)-1], []byte(`,"messages":[`), messages, []byte("]}")), nil
}

// responseFormat returns the member of that name, nil for none.
func responseFormat(q protocol.Query) *api.ChatCompletionResponseFormat {
	switch q.Form {
	case protocol.AsSchema:
		return &api.ChatCompletionResponseFormat{
			Type: api.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &api.ChatCompletionResponseFormatJSONSchema{
				Name: formatName(q.Request.Phase), Schema: q.Request.Schema, Strict: q.Strict,
			},
		}
	case protocol.AsObject:
		return &api.ChatCompletionResponseFormat{Type: api.ChatCompletionResponseFormatTypeJSONObject}
	}
	return nil
}

// limit returns the member for the output limit. If an endpoint rejects one
// name, it gets the
// other.
func (c chat) limit(without func(member string) bool) string {
	name := c.provider.LimitField
	switch {
	case !without(limitField):
		return name
	case name == "max_tokens":
		return "max_completion_tokens"
	}
	return "max_tokens"
}
