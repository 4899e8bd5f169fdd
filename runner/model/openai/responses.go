package openai

import (
	"encoding/json"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// responses is OpenAI's Responses protocol with a provider's differences.
type responses struct{ provider model.Provider }

// Path implements [protocol.Protocol].
func (responses) Path() string { return "responses" }

// Unsupported implements [protocol.Protocol].
func (responses) Unsupported() []string { return []string{"seed", "stop"} }

// The members that a request of the Responses protocol can do without. Models that do not
// reason refuse the first, and some endpoints do not know the second.
const (
	includeField = "include"
	storeField   = "store"
)

// Optional implements [protocol.Protocol].
func (responses) Optional(protocol.Query) []protocol.Member {
	return []protocol.Member{
		{Name: includeField, Words: []string{includeField, "encrypted content", "encrypted_content"}},
		{Name: storeField, Words: []string{storeField}},
	}
}

// responsesWire has the members of go-openai's request without its way to encode them.
type responsesWire api.CreateResponseRequest

// responsesRequest is a request. Its members replace members of go-openai with
// another precision.
type responsesRequest struct {
	responsesWire
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
}

// Encode implements [protocol.Protocol]. The endpoint stores nothing: thoughts go back with
// the conversation, encrypted.
func (r responses) Encode(q protocol.Query) ([]byte, error) {
	var input []any
	for _, m := range q.Request.Messages {
		input = append(input, r.items(m, q.Without(protocol.Extras))...)
	}
	var request responsesRequest
	request.Model, request.Stream, request.PromptCacheKey = q.Request.Model, q.Stream, q.CacheKey
	request.Input, request.Tools, request.Text = input, responsesTools(q.Request.Tools), textConfig(q)
	if !q.Without(storeField) {
		request.Store = new(bool)
	}
	if !q.Without(includeField) {
		request.Include = []api.ResponseInclude{api.ResponseIncludeReasoningEncryptedContent}
	}
	var extra model.Extra
	if p := q.Request.Params; p != nil {
		request.Temperature, request.TopP, request.MaxOutputTokens, extra = p.Temperature, p.TopP, p.MaxOutputTokens, p.Extra
		if p.Effort != "" {
			request.Reasoning = &api.ResponseReasoning{Effort: p.Effort}
		}
	}
	object, err := protocol.Encode(request)
	if err != nil {
		return nil, err
	}
	return protocol.Merge(object, extra)
}

// thoughts are the extra of a message or a call: the reasoning items before it.
type thoughts struct {
	Reasoning []json.RawMessage `json:"reasoning"`
}

// extra returns the thoughts as an extra, "" for none.
func (t thoughts) extra() model.Extra {
	if len(t.Reasoning) == 0 {
		return ""
	}
	object, _ := protocol.Encode(t)
	extra, _ := model.ExtraOf(object) // of values that were parsed
	return extra
}

// items returns the items of a request that a message is: thoughts, texts, calls and their
// results.
func (r responses) items(m model.Message, withoutExtras bool) (list []any) {
	think := func(e model.Extra) {
		var before thoughts
		if e == "" || withoutExtras || m.Provider != r.provider.Name || json.Unmarshal([]byte(e), &before) != nil {
			return // from another provider or protocol
		}
		for _, item := range before.Reasoning {
			list = append(list, item)
		}
	}
	if m.Role == model.ToolReply {
		return []any{api.ResponseFunctionCallOutput{Type: "function_call_output", CallID: m.ToolCallID, Output: m.Content}}
	}
	think(m.Extra)
	if m.Content != "" || len(m.ToolCalls) == 0 {
		list = append(list, api.ResponseInputMessage{Role: string(m.Role), Content: m.Content})
	}
	for _, call := range m.ToolCalls {
		think(call.Extra)
		list = append(list, api.ResponseOutputItem{Type: functionCall, CallID: call.ID, Name: call.Name, Arguments: call.Object()})
	}
	return list
}

// responsesTools returns tools that are not strict, which is not the default of the
// protocol: strict ones take a subset of JSON Schema.
func responsesTools(tools []model.Tool) (list []api.ResponseTool) {
	for _, t := range tools {
		list = append(list, api.ResponseTool{Type: api.ToolTypeFunction, Parameters: map[string]any{
			"name": t.Name, "description": t.Description, "parameters": t.Parameters, "strict": false,
		}})
	}
	return list
}

// textConfig returns the member that asks for the schema, nil for none.
func textConfig(q protocol.Query) *api.ResponseTextConfig {
	switch q.Form {
	case protocol.AsSchema:
		return &api.ResponseTextConfig{Format: &api.ResponseTextFormat{
			Type: protocol.AsSchema, Name: formatName(q.Request.Phase), Schema: q.Request.Schema, Strict: q.Strict,
		}}
	case protocol.AsObject:
		return &api.ResponseTextConfig{Format: &api.ResponseTextFormat{Type: protocol.AsObject}}
	}
	return nil
}
